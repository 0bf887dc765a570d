"""What a run did, in words: sentences, and a table of its counts. Each kind of run has its own, see
linker.runs.kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import RunStatus
from linker.runs.reports import report_kind, report_of

if TYPE_CHECKING:
    from collections.abc import Container

    from linker.models import Run
    from linker.runs.reports import Row

IN_SENTENCES = frozenset({"under_linked", "orphans"})  # fields that the sentences of a match tell in full


def summary(run: Run) -> list[str]:
    """What a run that succeeded did, most important first; empty for any other."""
    if run.status != RunStatus.SUCCEEDED:
        return []
    return [sentence for sentence in report_kind(run.kind).sentences(report_of(run)) if sentence]


def report_rows(run: Run, without: Container[str] = ()) -> list[Row]:
    """What the run counted, in the order of the work, but for the fields in `without`."""
    return report_kind(run.kind).rows(report_of(run), without) if run.report else []


def reading_rows(run: Run) -> list[Row]:
    """How an import read its file: encoding, delimiter, and which column filled which field."""
    return report_kind(run.kind).reading(report_of(run)) if run.report else []
