"""Reads: the pages like one of a suggestion's, as patterns of addresses that a rule can leave out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from django.utils.translation import gettext as _

from linker.models.policy import Side
from linker.projects.patterns import pattern_matches
from linker.wording import within

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Page
    from linker.projects.patterns import Matches

SECTIONS = 2  # of an address, from the first: what lies deeper is named by the page alone


@dataclass(frozen=True)
class Alike:
    """A pattern, what it finds, and as what its pages would be left out."""

    page: Page
    side: Side
    pattern: str
    matches: Matches

    @property
    def query(self) -> str:
        """What fills the form for a new rule."""
        return urlencode({"pattern": self.pattern, "side": self.side.value})

    @property
    def request(self) -> str:
        """What an editor asks a manager for."""
        said = {"pattern": self.pattern, "side": within(self.side.label)}
        return _("Please leave out pages like this: %(pattern)s, excluded as: %(side)s.") % said


def patterns_of(address: str) -> list[str]:
    """The page alone, and the sections of its address from the innermost: "^https://shop\\.example/tag/"."""
    parts = urlsplit(address)
    folders = [folder for folder in parts.path.split("/")[1:-1] if folder][:SECTIONS]
    if parts.path.endswith("/") and len(folders) == len([one for one in parts.path.split("/") if one]):
        folders = folders[:-1]  # the page's own folder
    site = f"{parts.scheme}://{parts.netloc}/"
    sections = [f"^{re.escape(site + path)}/" for path in accumulate(folders, lambda one, other: f"{one}/{other}")]
    return [f"^{re.escape(address)}$", *reversed(sections)]


def alike(edge: CandidateEdge) -> list[Alike]:
    """For the acceptor, then the donor. One pass over the addresses of the site, as far as a rule's preview goes."""
    asked = [
        (page, side, pattern)
        for page, side in ((edge.target, Side.ACCEPTOR), (edge.source, Side.DONOR))
        for pattern in patterns_of(page.url)
    ]
    found = pattern_matches(edge.project, [pattern for *_page, pattern in asked])
    return [Alike(*one, matches) for one, matches in zip(asked, found, strict=True)]
