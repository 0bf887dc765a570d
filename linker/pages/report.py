"""What a look for sensitive pages and one for the roles of pages counted. Imports do both, and so do runs of their
own."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from linker.engine.roles.policy import PageRole
from linker.models.policy import Sensitivity
from linker.runs.reports import Report


@dataclass(frozen=True, kw_only=True)
class SensitiveReport(Report):
    """Live pages that count as sensitive, and rules newly proposed by kind."""

    sensitive_pages: int = 0
    sensitive_proposed: dict[Sensitivity, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RolesReport(Report):
    """Live pages by the role in force, and those that have another one than before."""

    roles: dict[PageRole, int] = field(default_factory=dict)
    roles_changed: int = 0


class LinkGroup(StrEnum):
    """What an import takes links for. BY_ROLE: they stand in the text of a page that is a list itself; BY_RULE: they
    count otherwise than they were read, and are counted among the others too."""

    TEXT = "text"
    BY_ROLE = "role"
    LISTED = "list"
    ASIDE = "aside"
    NAVIGATION = "navigation"
    HEADER = "header"
    FOOTER = "footer"
    UNKNOWN = "unknown"
    BY_RULE = "rule"


@dataclass(frozen=True, kw_only=True)
class SeenLink:
    """A link by the addresses of its pages, cut off where they are very long. Links of menus are kept without words."""

    source: str
    words: str = ""
    target: str


@dataclass(frozen=True, kw_only=True)
class LinkKind:
    """How many links of a kind an import found, and some of them."""

    group: LinkGroup
    links: int
    examples: tuple[SeenLink, ...] = ()
