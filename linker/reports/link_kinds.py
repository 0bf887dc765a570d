"""Which links an import found, by kind, with some of each: for the page of its run, and of the fetch before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from linker.models import CountsAs, ReadAs, Run, RunKind, RunStatus
from linker.pages.report import LinkGroup
from linker.reports.like_examples import common_rule, rule_like
from linker.runs.reports import report_of

if TYPE_CHECKING:
    from linker.pages.report import LinkKind, SeenLink

NAMES = {
    LinkGroup.TEXT: _("Links in the text"),
    LinkGroup.BY_ROLE: _("In the text of home pages, lists and utility pages"),
    LinkGroup.LISTED: _("In lists of pages"),
    LinkGroup.ASIDE: _("Beside the text"),
    LinkGroup.NAVIGATION: _("In the navigation, or repeated on many pages"),
    LinkGroup.HEADER: _("In headers"),
    LinkGroup.FOOTER: _("In footers"),
    LinkGroup.UNKNOWN: _("In a part of the page that the file does not name"),
    LinkGroup.BY_RULE: _("Counted otherwise by rules"),
}
MEANS = {
    LinkGroup.TEXT: _("They count as links of editors."),
    LinkGroup.BY_ROLE: _("They count as links of a list, because of the role of their page."),
    LinkGroup.LISTED: _("Lists that the site makes: they do not count as links of editors."),
    LinkGroup.ASIDE: _("They do not count as links of editors."),
    LinkGroup.NAVIGATION: _("Kept once for two pages, without their words; rules leave them as they are."),
    LinkGroup.HEADER: _("Kept once for two pages, without their words; rules leave them as they are."),
    LinkGroup.FOOTER: _("Kept once for two pages, without their words; rules leave them as they are."),
    LinkGroup.UNKNOWN: _("They do not count as links of editors; rules leave them as they are."),
    LinkGroup.BY_RULE: _("They are among the links above as well."),
}
# What a rule would make of links that were taken for the wrong thing.
RULED_TO = {
    LinkGroup.TEXT: CountsAs.LIST,
    LinkGroup.BY_ROLE: CountsAs.TEXT,
    LinkGroup.LISTED: CountsAs.TEXT,
    LinkGroup.ASIDE: CountsAs.TEXT,
}
READ_AS = {
    LinkGroup.TEXT: ReadAs.TEXT,
    LinkGroup.BY_ROLE: ReadAs.TEXT,
    LinkGroup.LISTED: ReadAs.LIST,
    LinkGroup.ASIDE: ReadAs.ASIDE,
}


@dataclass(frozen=True)
class ShownLink:
    """`rule`: the query of a form for a rule on such links: with these words, found in such a place, from pages of the
    same folder. Empty where there is none."""

    link: SeenLink
    rule: str


@dataclass(frozen=True)
class ShownKind:
    """A kind as it is shown. `rule`: the query of a form for a rule with what its examples have in common, or as the
    first is where that is nothing; empty where rules do not reach."""

    kind: LinkKind
    name: Any
    means: Any
    rule: str
    examples: tuple[ShownLink, ...]


def link_kinds(run: Run) -> list[ShownKind]:
    """What an import of links found; of a fetch, what the import of its links did. Empty for other runs, and for those
    from before kinds were counted."""
    if run.kind == RunKind.FETCH:
        imports = Run.objects.filter(follows=run, kind=RunKind.IMPORT_LINKS, status=RunStatus.SUCCEEDED)
        following = imports.order_by("-pk").first()
        return link_kinds(following) if following is not None else []
    found = getattr(report_of(run), "kinds", None) if run.kind == RunKind.IMPORT_LINKS and run.report else None
    return [_shown(kind) for kind in found or ()]


def _shown(kind: LinkKind) -> ShownKind:
    by_rule = kind.group in RULED_TO
    return ShownKind(
        kind,
        NAMES[kind.group],
        MEANS[kind.group],
        _query(kind.group, common_rule(kind.examples)) if by_rule else "",
        tuple(ShownLink(one, _query(kind.group, rule_like(one)) if by_rule else "") for one in kind.examples),
    )


def _query(group: LinkGroup, which: dict[str, str]) -> str:
    return urlencode({**which, "read_as": READ_AS[group].value, "counts_as": RULED_TO[group].value})
