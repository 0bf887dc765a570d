"""What an import of links counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence
from ingest.kinds.links.parse import IGNORED
from linker.engine.roles.policy import PageRole
from linker.models import Block
from linker.pages.report import LinkKind
from linker.reports.roles import KEYS as ROLE_KEYS
from linker.reports.roles import LABELS as ROLE_LABELS
from linker.reports.roles import roles_sentence
from linker.runs.reports import ReportKind
from linker.wording import in_english, number


@dataclass(frozen=True, kw_only=True)
class LinksReport(ImportReport):
    """An import of links. `ignored` counts rows that are no links of ours, by a key of ingest.kinds.links' IGNORED."""

    links: int | None = None
    body: int | None = None
    template: int | None = None
    links_by_block: dict[Block, int] | None = None
    by_rules: int | None = None
    by_roles: int | None = None
    made_template_by_repetition: int | None = None
    ignored: dict[str, int] | None = None
    places: int | None = None
    roles: dict[PageRole, int] | None = None
    roles_changed: int | None = None
    kinds: tuple[LinkKind, ...] | None = None

    @property
    def loaded(self) -> int | None:
        return self.links

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        codes = {words: code for code, words in IGNORED.items()}
        blocks = {in_english(block.label): block.value for block in Block}
        renamed = {}
        if "ignored" in stored:
            renamed["ignored"] = {codes.get(words, words): count for words, count in stored["ignored"].items()}
        if "links_by_block" in stored:
            renamed["links_by_block"] = {
                blocks.get(name, name): count for name, count in stored["links_by_block"].items()
            }
        return super().upgrade(stored | renamed, version)


TABLE = import_table(
    labels={
        **ROLE_LABELS,
        "body": gettext_lazy("Links in the text"),
        "template": gettext_lazy("Links around the text"),
        "links_by_block": gettext_lazy("Links"),
        "by_rules": gettext_lazy("Links that count otherwise by rules"),
        "by_roles": gettext_lazy("Links of a list because of their page’s role"),
        "made_template_by_repetition": gettext_lazy("Made template by repetition"),
        "places": gettext_lazy("Links whose place in the text is new"),
        "ignored": gettext_lazy("Ignored"),
    },
    order=(
        *(
            "file",
            "rows",
            "links",
            "body",
            "template",
            "links_by_block",
            "by_rules",
            "by_roles",
            "new",
            "seen_before",
            "missing",
            "ignored",
        ),
        *(*LEFT_OUT, "roles", "roles_changed", "made_template_by_repetition"),
    ),
    keys={
        **ROLE_KEYS,
        "ignored": lambda reason: _(IGNORED.get(reason, reason)),
        "links_by_block": lambda block: str(block.label),
    },
)


def _of_links(report: LinksReport) -> list[str]:
    return [
        _read(report),
        _ruled(report),
        _listed(report),
        _ignored(report),
        _gone(report),
        _roles(report),
        cut_off(report),
        left_out_sentence(report),
    ]


def _read(report: LinksReport) -> str:
    links = report.links or 0
    named = ngettext(
        "%(links)s link was read from %(file)s: %(body)s in the text of pages and %(template)s around it, in menus, "
        "footers and boxes.",
        "%(links)s links were read from %(file)s: %(body)s in the text of pages and %(template)s around it, in menus, "
        "footers and boxes.",
        links,
    )
    unnamed = ngettext(
        "%(links)s link was read: %(body)s in the text of pages and %(template)s around it, in menus, footers and "
        "boxes.",
        "%(links)s links were read: %(body)s in the text of pages and %(template)s around it, in menus, footers and "
        "boxes.",
        links,
    )
    counts = {"links": links, "body": report.body or 0, "template": report.template or 0}
    filled = {name: number(value) for name, value in counts.items()}
    return (named if report.file else unnamed) % (filled | {"file": report.file})


def _ruled(report: LinksReport) -> str:
    links = report.by_rules or 0
    said = ngettext(
        "%(links)s of them counts otherwise than it was read, by rules of the project.",
        "%(links)s of them count otherwise than they were read, by rules of the project.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _roles(report: LinksReport) -> str:
    """What links say of what pages are for: the import of the pages before could not know it."""
    pages = report.roles_changed or 0
    said = ngettext(
        "By its links, %(pages)s page has another role.", "By their links, %(pages)s pages have another role.", pages
    )
    return f"{said % {'pages': number(pages)}} {roles_sentence(report.roles or {})}" if pages else ""


def _listed(report: LinksReport) -> str:
    links = report.by_roles or 0
    said = ngettext(
        "%(links)s link in the text of a home page, a list of pages or a utility page counts as one of a list.",
        "%(links)s links in the texts of home pages, lists of pages and utility pages count as those of lists.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _ignored(report: LinksReport) -> str:
    counts = dict(report.ignored or {})
    repeated = counts.pop("repeated", 0)
    return " ".join(filter(None, [_no_link(sum(counts.values())), _repeated(repeated)]))


def _repeated(rows: int) -> str:
    said = ngettext(
        "%(rows)s row repeats a link of a menu, a footer or a box, which is kept once a page.",
        "%(rows)s rows repeat links of menus, footers or boxes, which are kept once a page.",
        rows,
    )
    return said % {"rows": number(rows)} if rows else ""


def _no_link(ignored: int) -> str:
    said = ngettext(
        "%(rows)s row does not link one page of the site to another.",
        "%(rows)s rows do not link one page of the site to another.",
        ignored,
    )
    return said % {"rows": number(ignored)} if ignored else ""


def _gone(report: LinksReport) -> str:
    missing = report.missing or 0
    said = ngettext(
        "%(links)s link of the project is not in this file and counts as gone.",
        "%(links)s links of the project are not in this file and count as gone.",
        missing,
    )
    return said % {"links": number(missing)} if missing else ""


LINKS = ReportKind(LinksReport, _of_links, TABLE.rows, READING.rows, TABLE.labels)
