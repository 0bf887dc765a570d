"""What an embed run did, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.embedding.report import EmbedReport
from linker.pages.languages import advice_in_words
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(
    labels={
        "model": gettext_lazy("Model"),
        "dimensions": gettext_lazy("Dimensions"),
        "made_of": gettext_lazy("Text read from a page"),
        "embedded": gettext_lazy("Embedded"),
        "unchanged": gettext_lazy("Unchanged"),
        "without_text": gettext_lazy("Pages without text"),
        "seconds": gettext_lazy("Seconds"),
    },
    hidden=["advice"],
)


def sentences(report: EmbedReport) -> list[str]:
    return [_embedded(report), _without_text(report.without_text), advice_in_words(report.advice)]


def _embedded(report: EmbedReport) -> str:
    embedded, unchanged = report.embedded, report.unchanged
    said = ngettext(
        "%(pages)s page was given a new vector from %(model)s.",
        "%(pages)s pages were given a new vector from %(model)s.",
        embedded,
    )
    if unchanged:
        said = ngettext(
            "%(pages)s page was given a new vector from %(model)s; the text of %(unchanged)s had not changed.",
            "%(pages)s pages were given a new vector from %(model)s; the text of %(unchanged)s had not changed.",
            embedded,
        )
    model = report.model or _("the model")
    return said % {"pages": number(embedded), "model": model, "unchanged": number(unchanged)}


def _without_text(pages: int) -> str:
    said = ngettext(
        "%(pages)s page has no text to read, and so no vector.",
        "%(pages)s pages have no text to read, and so no vector.",
        pages,
    )
    return said % {"pages": number(pages)} if pages else ""


EMBED = ReportKind(EmbedReport, sentences, TABLE.rows)
