"""Reads the links again that are kept, by the project's rules: the run that follows when a rule is added or removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ingest.kinds.links.merge import count_page_links, note_sidebar
from linker.engine.roles.policy import PageRole
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.models import Block, CountsAs
from linker.models.linked import IN_BLOCK
from linker.pages.link_rules import apply_link_rules, note_taken, rules_of
from linker.pages.report import RolesReport
from linker.pages.roles import find_roles_and_lists
from linker.reports.roles import KEYS as ROLE_KEYS
from linker.reports.roles import LABELS as ROLE_LABELS
from linker.reports.table import Table
from linker.runs import lifecycle
from linker.runs.reports import Report, ReportKind
from linker.storage.locks import lock_pages, lock_project
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import LinkRule, Run
    from linker.pages.link_rules import Applied
    from linker.runs.lifecycle import Progress
    from linker.runs.reports import Row


@dataclass(frozen=True, kw_only=True)
class RuleCount:
    """Links that a rule takes, and those of them that counted otherwise before."""

    rule: str
    counts_as: CountsAs
    links: int = 0
    changed: int = 0


@dataclass(frozen=True, kw_only=True)
class LinkExample:
    """A link that counts otherwise now, by addresses."""

    source: str
    words: str
    target: str
    now: Block


@dataclass(frozen=True, kw_only=True)
class LinksReadReport(Report):
    """Links that count otherwise than before the run, of those that are not missing; `back` of them count again as they
    were read, and `by_roles` follow from roles of pages that are others now."""

    changed: int = 0
    back: int = 0
    by_roles: int | None = None
    otherwise: int = 0
    rules: tuple[RuleCount, ...] = ()
    examples: tuple[LinkExample, ...] = ()
    roles: dict[PageRole, int] | None = None
    roles_changed: int | None = None

    @property
    def brought_news(self) -> bool:
        return bool(self.changed)


def run_read_links(run: Run, progress: Progress = lifecycle.no_progress) -> LinksReadReport:
    """The work of the run; it may run twice. Ends the run with it: a rule that comes while it works waits for its end,
    and starts another."""
    project = run.project
    progress(0, 3, "Reading links")
    with transaction.atomic():
        lock_pages(project.pk)
        lock_project(project.pk)
        rules = rules_of(project)
        applied = apply_link_rules(project)
        note_taken(applied)
        found, listed = None, 0
        if applied.written:
            progress(1, 3, "Counting links")
            count_page_links(project)
            note_sidebar(project)
            progress(2, 3, "Finding page roles")
            roles, settled = find_roles_and_lists(project)
            found, listed = RolesReport.from_json(roles), settled.total
            follow_up.start(project, (Piece.TIERS,), follows=run)
        report = _report(rules, applied, found, listed)
        lifecycle.succeed(run.pk, report)
    return report


def _report(rules: Sequence[LinkRule], applied: Applied, found: RolesReport | None, listed: int) -> LinksReadReport:
    return LinksReadReport(
        changed=applied.moved.total() + listed,
        back=applied.back,
        by_roles=listed,
        otherwise=applied.otherwise,
        rules=tuple(
            RuleCount(
                rule=str(rule),
                counts_as=CountsAs(rule.counts_as),
                links=applied.taken[rule.pk],
                changed=applied.changed.get(rule.pk, 0),
            )
            for rule in rules
        ),
        examples=tuple(
            LinkExample(source=one.source, words=one.words, target=one.target, now=one.now) for one in applied.examples
        ),
        roles=found.roles if found is not None else None,
        roles_changed=found.roles_changed if found is not None else None,
    )


def sentences(report: LinksReadReport) -> list[str]:
    changed = ngettext(
        "%(links)s link counts otherwise than before.", "%(links)s links count otherwise than before.", report.changed
    )
    back = ngettext(
        "%(links)s of them counts again as the crawl read it.",
        "%(links)s of them count again as the crawl read them.",
        report.back,
    )
    roles = ngettext(
        "%(links)s of them because its page has another role now.",
        "%(links)s of them because their pages have other roles now.",
        report.by_roles or 0,
    )
    return [
        changed % {"links": number(report.changed)},
        back % {"links": number(report.back)} if report.back else "",
        roles % {"links": number(report.by_roles)} if report.by_roles else "",
        _("The next match takes it into account.") if report.changed else "",
    ]


def _rules(rules: tuple[RuleCount, ...]) -> list[Row]:
    return [(one.rule, _count(one)) for one in rules]


def _count(one: RuleCount) -> str:
    said = {
        CountsAs.TEXT: ngettext(
            "%(links)s link in the text, of which %(changed)s new",
            "%(links)s links in the text, of which %(changed)s new",
            one.links,
        ),
        CountsAs.LIST: ngettext(
            "%(links)s link of a list, of which %(changed)s new",
            "%(links)s links of a list, of which %(changed)s new",
            one.links,
        ),
    }
    return said[one.counts_as] % {"links": number(one.links), "changed": number(one.changed)}


def _examples(examples: tuple[LinkExample, ...]) -> list[Row]:
    return [
        (
            f"\N{LEFT DOUBLE QUOTATION MARK}{one.words}\N{RIGHT DOUBLE QUOTATION MARK}",
            _("%(donor)s → %(acceptor)s, now %(block)s")
            % {"donor": one.source, "acceptor": one.target, "block": IN_BLOCK[one.now]},
        )
        for one in examples
    ]


LINKS_READ = ReportKind(
    LinksReadReport,
    sentences,
    Table(
        labels={
            **ROLE_LABELS,
            "changed": gettext_lazy("Links that count otherwise now"),
            "back": gettext_lazy("Of these, as they were read again"),
            "by_roles": gettext_lazy("Of these, by other roles of their pages"),
            "otherwise": gettext_lazy("Links that count otherwise by rules"),
            "rules": gettext_lazy("By rule"),
            "examples": gettext_lazy("For example"),
        },
        keys=ROLE_KEYS,
        values={"rules": _rules, "examples": _examples},
    ).rows,
)
