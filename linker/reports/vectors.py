"""What dropping a set of vectors did, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.embedding.vector_sets import VectorsReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(
    labels={"pages": gettext_lazy("Pages whose vectors were dropped"), "set": gettext_lazy("Model and version")}
)


def sentences(report: VectorsReport) -> list[str]:
    said = ngettext(
        "Dropped the vectors of %(pages)s page: %(model)s.",
        "Dropped the vectors of %(pages)s pages: %(model)s.",
        report.pages,
    )
    return [said % {"pages": number(report.pages), "model": report.set}] if report.pages else [_("There were none.")]


VECTORS = ReportKind(VectorsReport, sentences, TABLE.rows)
