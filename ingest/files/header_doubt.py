"""Whether the row that was read as the header may not be one: it reads like a row of data, or like a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.files.column_names import header_key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ADDRESS = re.compile(r"https?://|www\.\w|/\w", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d[\d.,:/’'\s-]*[%€$£]?")  # dates and times too
_WORDS, _WORDS_AND_END = 8, 4  # more words than a name has; a sentence has fewer where it ends like one


def doubtful_name(header: Sequence[str], known: Collection[str]) -> str:
    """The first name that no column would have, empty where there is none.

    No column is called by an address. Years and questions do name columns, and are let be where another column has one
    of the names in `known`, which are in the form of header_key().
    """
    if addresses := [name for name in header if _ADDRESS.match(name)]:
        return addresses[0]
    if any(header_key(name) in known for name in header):
        return ""
    return next((name for name in header if _NUMBER.fullmatch(name) or _is_sentence(name)), "")


def _is_sentence(name: str) -> bool:
    words = len(name.split())
    return words > _WORDS or (words >= _WORDS_AND_END and name.endswith((".", "!", "?", ":")))
