"""Reads: a page's role in words, where it comes from, and what it keeps the page from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.engine.patterns import compile_pattern
from linker.engine.roles.policy import LABELS, Gives, PageRole, Receives, role_links
from linker.models import RoleRule

if TYPE_CHECKING:
    from linker.models import Page, Project


@dataclass(frozen=True)
class RoleInWords:
    """`label` is the role in force, `source` says where it comes from, and `effect` what follows from it; empty where
    the page gives and receives like any other."""

    label: str
    source: str
    effect: str


def role_in_words(project: Project, page: Page) -> RoleInWords:
    return RoleInWords(LABELS[PageRole(page.role_in_force)], role_source(project, page), _effect(project, page))


def role_source(project: Project, page: Page) -> str:
    """Where the role of the page comes from, as the end of a sentence: "chosen by hand"."""
    if page.role_from == "hand":
        return "chosen by hand"
    if page.role_from == "rule":
        rules = RoleRule.objects.filter(project=project).order_by("pk")
        pattern = next((rule.pattern for rule in rules if compile_pattern(rule.pattern).search(page.url)), "")
        return f"by the rule “{pattern}”" if pattern else "by a rule"
    return f"found: {page.role_why}" if page.role_why else "found: nothing suggests another role"


def _effect(project: Project, page: Page) -> str:
    if page.role_in_force == PageRole.EVENT and page.role_now is PageRole.ARTICLE:
        return "Its date is still to come, so it gives and receives links like an article."
    links = role_links(project.role_links)[page.role_now]
    if links.gives is Gives.NO and links.receives is Receives.NO:
        return "It neither gives nor receives new links."
    gives = {Gives.NO: "It gives no new links", Gives.BESIDE: "It gives new links only beside its text"}
    receives = {Receives.NO: "receives none", Receives.NAME: "receives new links only with its own name as anchor"}
    if links.gives in gives and links.receives in receives:
        return f"{gives[links.gives]} and {receives[links.receives]}."
    if links.gives in gives:
        return f"{gives[links.gives]}."
    if links.receives is Receives.NO:
        return "It receives no new links."
    return f"It {receives[links.receives]}." if links.receives in receives else ""
