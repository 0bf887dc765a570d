"""What a rule for links asks for to take links like some examples."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from linker.pages.link_words import fold, literally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.pages.report import SeenLink

LONGEST = 300  # characters of what a rule asks for; examples are cut there
_DIGITS = re.compile(r"\d+")


def rule_like(link: SeenLink) -> dict[str, str]:
    """The words of a link and the folder of its donor, as the form of a rule names them; what is empty is left out."""
    return _filled({"words": literally(link.words), "source_pattern": folder_pattern(link.source)})


def common_rule(links: Sequence[SeenLink]) -> dict[str, str]:
    """What all have in common of their words and their donors' folders, or what the first has where that is nothing."""
    if not links:
        return {}
    folders = {folder_pattern(link.source) for link in links}
    common = {
        "words": common_words([link.words for link in links]),
        "source_pattern": folders.pop() if len(folders) == 1 else "",
    }
    return _filled(common) or rule_like(links[0])


def common_words(anchors: Sequence[str]) -> str:
    """The words themselves where all say the same, else those that all begin and end with, with a * for the others;
    empty where there are none."""
    said = [anchor.split() for anchor in anchors]
    folded = [fold(anchor).split() for anchor in anchors]
    if folded.count(folded[0]) == len(folded):
        return literally(anchors[0])
    first = _shared(folded)
    last = _shared([words[first:][::-1] for words in folded])
    if not first and not last:
        return ""
    start, end = said[0][:first], said[0][len(said[0]) - last :]
    return " ".join([*map(literally, start), "*", *map(literally, end)])


def _shared(rows: Sequence[Sequence[str]]) -> int:
    """How many words all of them begin with."""
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*rows, strict=False)))


def folder_pattern(address: str) -> str:
    """A pattern for the pages in the folder of a page, whatever the numbers in its name; for a home page, its own
    address. Empty for a page that is in no folder."""
    parts = urlsplit(address)
    site = f"^{re.escape(f'{parts.scheme}://{parts.netloc}')}"
    folder = parts.path.rstrip("/").rpartition("/")[0]
    if folder:
        return site + _DIGITS.sub(r"\\d+", re.escape(f"{folder}/"))
    return f"{site}/?$" if not parts.path.strip("/") and not parts.query else ""


def _filled(asked: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in asked.items() if 0 < len(value) < LONGEST}
