"""What columns are called: the form in which names are compared, and names that are unique in a header."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

MAX_NAME = 200  # characters of a column's name


@lru_cache(8192)  # the names that products give their columns are compared with each file
def header_key(name: str) -> str:
    """The form in which column names are compared: no case, accents or punctuation; `H1-1` becomes `h1 1`.

    Only the first MAX_NAME characters are looked at: sorting a long run of accents takes quadratic time.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name[:MAX_NAME]) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[\W_]+", " ", plain.casefold()).split())


def unique_names(cells: list[str]) -> tuple[str, ...]:
    """Names of columns: an empty one becomes `Column 3`, a repeated one `Name (2)`; of MAX_NAME characters at most."""
    names: dict[str, None] = {}
    times: Counter[str] = Counter()
    for number, cell in enumerate(cells, 1):
        name = base = " ".join(cell[: 2 * MAX_NAME].split())[:MAX_NAME] or f"Column {number}"
        times[base] += 1
        while name in names:
            times[base] += name != base
            name = f"{base} ({times[base]})"
        names[name] = None
    return tuple(names)
