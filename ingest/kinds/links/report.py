"""What an import of links counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence, source
from ingest.kinds.links.parse import IGNORED
from linker.engine.roles.policy import PageRole
from linker.models import Block
from linker.reports.roles import LABELS as ROLE_LABELS
from linker.runs.reports import ReportKind
from linker.wording import are, count, in_english, was


@dataclass(frozen=True, kw_only=True)
class LinksReport(ImportReport):
    """An import of links. `ignored` counts rows that are no links of ours, by a key of ingest.kinds.links' IGNORED."""

    links: int | None = None
    body: int | None = None
    template: int | None = None
    links_by_block: dict[Block, int] | None = None
    made_template_by_repetition: int | None = None
    ignored: dict[str, int] | None = None
    roles: dict[PageRole, int] | None = None
    roles_changed: int | None = None

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
        "body": "Links in the text",
        "template": "Links around the text",
        "links_by_block": "Links",
    },
    order=(
        *("file", "rows", "links", "body", "template", "links_by_block", "new", "seen_before", "missing", "ignored"),
        *(*LEFT_OUT, "roles", "roles_changed", "made_template_by_repetition"),
    ),
    keys={
        "ignored": lambda reason: IGNORED.get(reason, reason),
        "links_by_block": lambda block: str(block.label),
    },
)


def _of_links(report: LinksReport) -> list[str]:
    links, missing, ignored = report.links or 0, report.missing or 0, sum((report.ignored or {}).values())
    return [
        f"{count(links, 'link')} {was(links)} read{source(report)}: {report.body or 0:,} in the text of pages and "
        f"{report.template or 0:,} around it, in menus, footers and boxes.",
        f"{count(ignored, 'row')} {'does' if ignored == 1 else 'do'} not link one page of the site to another."
        if ignored
        else "",
        f"{count(missing, 'link')} of the project {are(missing)} not in this file and "
        f"{'counts' if missing == 1 else 'count'} as gone."
        if missing
        else "",
        cut_off(report),
        left_out_sentence(report),
    ]


LINKS = ReportKind(LinksReport, _of_links, TABLE.rows, READING.rows)
