"""What an embed run did, in words."""

from __future__ import annotations

from linker.embedding.report import EmbedReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import count, was

TABLE = Table(
    labels={"made_of": "Text read from a page", "without_text": "Pages without text"},
    hidden=["advice"],
)


def sentences(report: EmbedReport) -> list[str]:
    embedded, unchanged, without = report.embedded, report.unchanged, report.without_text
    return [
        f"{count(embedded, 'page')} {was(embedded)} given a new vector from {report.model or 'the model'}"
        f"{f'; the text of {unchanged:,} had not changed' if unchanged else ''}.",
        f"{count(without, 'page')} {'has' if without == 1 else 'have'} no text to read, and so no vector."
        if without
        else "",
        report.advice,
    ]


EMBED = ReportKind(EmbedReport, sentences, TABLE.rows)
