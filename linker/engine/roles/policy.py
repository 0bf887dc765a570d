"""What pages of a role give and receive, unless a project says otherwise."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Mapping


class PageRole(StrEnum):
    """What a page is for. EVENT is a page about something that takes place on a day."""

    HOME = "home"
    HUB = "hub"
    ARTICLE = "article"
    PRODUCT = "product"
    UTILITY = "utility"
    THIN = "thin"
    EVENT = "event"


LABELS = {
    PageRole.HOME: gettext_noop("Home"),
    PageRole.HUB: gettext_noop("Hub"),
    PageRole.ARTICLE: gettext_noop("Article"),
    PageRole.PRODUCT: gettext_noop("Product"),
    PageRole.UTILITY: gettext_noop("Utility"),
    PageRole.THIN: gettext_noop("Thin"),
    PageRole.EVENT: gettext_noop("Event"),
}
CHOICES = [(role.value, label) for role, label in LABELS.items()]
NOUNS = {
    PageRole.HOME: gettext_noop("home page"),
    PageRole.HUB: gettext_noop("hub"),
    PageRole.ARTICLE: gettext_noop("article"),
    PageRole.PRODUCT: gettext_noop("product"),
    PageRole.UTILITY: gettext_noop("utility page"),
    PageRole.THIN: gettext_noop("thin page"),
    PageRole.EVENT: gettext_noop("event page"),
}
# With an article, as a sentence has them; of events only those that are past are left out.
NAMED = {
    PageRole.HOME: gettext_noop("a home page"),
    PageRole.HUB: gettext_noop("a hub"),
    PageRole.ARTICLE: gettext_noop("an article"),
    PageRole.PRODUCT: gettext_noop("a product"),
    PageRole.UTILITY: gettext_noop("a utility page"),
    PageRole.THIN: gettext_noop("a thin page"),
    PageRole.EVENT: gettext_noop("a past event"),
}
MEANS = {
    PageRole.HOME: gettext_noop("The first page of the site, in each of its languages."),
    PageRole.HUB: gettext_noop("A list of other pages: an index, a category, a tag, an archive."),
    PageRole.ARTICLE: gettext_noop("A page with something to say, and every page of which nothing else is certain."),
    PageRole.PRODUCT: gettext_noop("A page that sells one thing, with its price."),
    PageRole.UTILITY: gettext_noop(
        "Contact, legal notice, privacy, terms, login, account, basket, search form, sitemap, 404."
    ),
    PageRole.THIN: gettext_noop("A page whose text is too short to say anything."),
    PageRole.EVENT: gettext_noop("A page that announces something for a day. The settings apply once the day is past."),
}


class Gives(StrEnum):
    """Where a page may give new links."""

    YES = "yes"
    BESIDE = "beside"
    NO = "no"


class Receives(StrEnum):
    """Whether a page may receive new links; NAME: under its own title, H1 or name alone."""

    YES = "yes"
    NAME = "name"
    NO = "no"


class RoleLinks(NamedTuple):
    """Whether the pages of a role give new links, and whether they receive any."""

    gives: Gives
    receives: Receives


USUAL = {
    PageRole.HOME: RoleLinks(Gives.NO, Receives.NO),
    PageRole.HUB: RoleLinks(Gives.NO, Receives.NO),
    PageRole.ARTICLE: RoleLinks(Gives.YES, Receives.YES),
    PageRole.PRODUCT: RoleLinks(Gives.YES, Receives.YES),
    PageRole.UTILITY: RoleLinks(Gives.NO, Receives.NO),
    PageRole.THIN: RoleLinks(Gives.BESIDE, Receives.NO),
    PageRole.EVENT: RoleLinks(Gives.YES, Receives.NO),
}

# The lists of a shop are the categories that it wants to be found by.
USUAL_IN_SHOPS = {**USUAL, PageRole.HUB: RoleLinks(Gives.NO, Receives.NAME)}


def usual_links(*, in_shop: bool) -> dict[PageRole, RoleLinks]:
    """What each role gives and receives where a project says nothing."""
    return USUAL_IN_SHOPS if in_shop else USUAL


def role_links(changed: Mapping[str, Mapping[str, str]], *, in_shop: bool = False) -> dict[PageRole, RoleLinks]:
    """What each role gives and receives: what is usual, but for what a project has `changed`, by role, under "gives"
    and "receives". Raises ValueError for a value that there is not."""
    return {
        role: RoleLinks(
            Gives(changed.get(role, {}).get("gives", usual.gives)),
            Receives(changed.get(role, {}).get("receives", usual.receives)),
        )
        for role, usual in usual_links(in_shop=in_shop).items()
    }


def differing(chosen: Mapping[PageRole, RoleLinks], *, in_shop: bool = False) -> dict[str, dict[str, str]]:
    """The part of a choice that differs from what is usual, by role, as `role_links` reads it: what was not chosen
    follows later defaults."""
    usual_of = usual_links(in_shop=in_shop)
    found = {
        role.value: {
            name: str(value)
            for name, value, usual in zip(links._fields, links, usual_of[role], strict=True)
            if value != usual
        }
        for role, links in chosen.items()
    }
    return {role: changed for role, changed in found.items() if changed}
