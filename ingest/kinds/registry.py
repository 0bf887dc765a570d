"""The kinds of import there are. To add one, see CONTRIBUTING.md: its line goes here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from ingest.errors import FileError
from ingest.import_report import READING
from ingest.kinds.events.kind import EventsImport
from ingest.kinds.links.kind import LinksImport
from ingest.kinds.pages.kind import PagesImport
from ingest.kinds.queries.kind import QueriesImport
from ingest.kinds.traffic.kind import TrafficImport
from linker.models.run import IMPORT_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import ImportKind
    from linker.runs.reports import ReportKind

# In the order in which they are asked whether a file is theirs, and in which the form lists them.
KINDS: tuple[ImportKind, ...] = (PagesImport(), LinksImport(), QueriesImport(), TrafficImport(), EventsImport())


def kinds() -> tuple[ImportKind, ...]:
    return KINDS


def find(name: str) -> ImportKind | None:
    """The kind of a name."""
    return next((kind for kind in KINDS if kind.name == name), None)


def get(name: str) -> ImportKind:
    """The kind of a name. Raises KeyError where there is none."""
    kind = find(name)
    if kind is None:
        raise KeyError(name)
    return kind


def of_run(run_kind: str) -> ImportKind:
    """The kind of import that a kind of run is. Raises KeyError where it is none."""
    return get(run_kind.removeprefix(IMPORT_PREFIX))


def run_kinds() -> list[str]:
    """The kinds of run that imports are; linker.runs.kinds asks."""
    return [kind.run_kind for kind in KINDS]


def report_kind(run_kind: str) -> ReportKind[Any]:
    """The report of a kind of run, and its words; linker.runs.reports asks."""
    return of_run(run_kind).report


def count_labels() -> dict[str, Any]:
    """What the counts of all kinds are called, by field; the log of changes asks. What only one kind calls otherwise
    than the others is called as the first says."""
    found: dict[str, Any] = dict(READING.labels)
    for kind in KINDS:
        found = {**kind.report.labels, **found}
    return found


def known_columns() -> set[str]:
    """What columns are called in files of any kind, by which the header row is found whatever a file is taken for."""
    return set[str]().union(*(kind.fields.known_columns for kind in KINDS))


def preferred_files() -> set[str]:
    """Names of files to take out of an archive that may be of any kind."""
    return set[str]().union(*(kind.preferred_files for kind in KINDS))


def kind_of(header: Sequence[str]) -> ImportKind:
    """What a file holds, going by the names of its columns; pages where no kind says it is its own."""
    return next((kind for kind in KINDS if kind.recognises(header)), KINDS[0])


def better_kind(kind: ImportKind, header: Sequence[str], mapping: Columns) -> ImportKind | None:
    """The kind that takes a file which this one refuses with that mapping; None where none is known."""
    other = kind_of(header)
    if other is kind:
        return None
    if kind.fields.without_column(mapping):
        return other if other.is_sure_of(header) else None
    return other if kind is KINDS[0] and other.takes_from_pages(mapping) else None


def what_is_missing(kind: ImportKind, header: Sequence[str], mapping: Columns) -> str:
    """Why a file cannot be imported as a kind with that mapping, and what to do about it; empty where it can.

    A file of pages and queries, or of nothing but traffic, is not taken for one of pages either.
    """
    if other := better_kind(kind, header, mapping):
        said = gettext("This looks like a file of %(other)s, not of %(kind)s: import it as %(other)s.")
        return said % {"other": other.noun, "kind": kind.noun}
    return kind.what_is_missing(header, mapping)


def check_required(kind: ImportKind, name: str, header: Sequence[str], mapping: Columns) -> None:
    """Raises FileError where a field that an import cannot do without has no column."""
    if text := what_is_missing(kind, header, mapping):
        raise FileError(name, text)
