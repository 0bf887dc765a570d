"""Reads: a page's role in words, where it comes from, and what it keeps the page from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.engine.patterns import compile_pattern
from linker.engine.roles.archives import is_part_of_list
from linker.engine.roles.policy import LABELS, Gives, PageRole, Receives, RoleLinks
from linker.engine.roles.sayings import ROLE_WHY
from linker.models import RoleRule
from linker.pages.roles import links_by_role
from linker.reports.sentences import in_words

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
    return RoleInWords(_(LABELS[PageRole(page.role_in_force)]), role_source(project, page), _effect(project, page))


def role_source(project: Project, page: Page) -> str:
    """Where the role of the page comes from, as the end of a sentence: "chosen by hand"."""
    if page.role_from == "hand":
        return _("chosen by hand")
    if page.role_from == "rule":
        rules = RoleRule.objects.filter(project=project).order_by("pk")
        pattern = next((rule.pattern for rule in rules if compile_pattern(rule.pattern).search(page.url)), "")
        return _("by the rule “%(pattern)s”") % {"pattern": pattern} if pattern else _("by a rule")
    if not page.role_why:
        return _("found: nothing suggests another role")
    return _("found: %(why)s") % {"why": in_words(page.role_why, ROLE_WHY)}


def links_of(project: Project, page: Page) -> RoleLinks:
    """What the page gives and receives by its role: later pages and months of lists receive nothing."""
    links = links_by_role(project)[page.role_now]
    if page.role_now is PageRole.HUB and is_part_of_list(page.url, page.title, page.h1):
        return links._replace(receives=Receives.NO)
    return links


def _effect(project: Project, page: Page) -> str:
    if page.role_in_force == PageRole.EVENT and page.role_now is PageRole.ARTICLE:
        return _("Its date is still to come, so it gives and receives links like an article.")
    links = links_of(project, page)
    return {
        (Gives.NO, Receives.NO): _("It neither gives nor receives new links."),
        (Gives.NO, Receives.NAME): _("It gives no new links and receives new links only with its own name as anchor."),
        (Gives.BESIDE, Receives.NO): _("It gives new links only beside its text and receives none."),
        (Gives.BESIDE, Receives.NAME): _(
            "It gives new links only beside its text and receives new links only with its own name as anchor."
        ),
    }.get((links.gives, links.receives)) or _alone(links.gives, links.receives)


def _alone(gives: Gives, receives: Receives) -> str:
    """What follows from a role that limits one side; empty where it limits none."""
    if gives is Gives.NO:
        return _("It gives no new links.")
    if gives is Gives.BESIDE:
        return _("It gives new links only beside its text.")
    if receives is Receives.NO:
        return _("It receives no new links.")
    return _("It receives new links only with its own name as anchor.") if receives is Receives.NAME else ""
