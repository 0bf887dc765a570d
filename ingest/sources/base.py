"""Where rows come from: the interface between a source and the imports, which do not know whether it is a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Any

from ingest.asked_from import is_command_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ingest.cells.periods import Period
    from ingest.files.table import Records
    from ingest.formats.known_file import Known
    from linker.models import Project

SAMPLES = 50  # rows looked at for guesses
MAX_SAMPLE_CHARACTERS = 2**22  # of these rows together


class Source(ABC):
    """The rows of one table, which may be read several times.

    Messages use `name`; `header` has the names of the columns, each once. `position` of `size` says how far the
    reading has come, in units of the source's own. `known` is what a file is known for. `is_whole`: what the
    source does not hold is gone; a part of a site says nothing of the rest. `site_source` is the number of the
    SiteSource that the rows were fetched from, which speaks of the pages that it held before alone; None for a file,
    which speaks of all. `exact_text`: texts are stored as they are, because places in them are known. `places_only`:
    of its links nothing counts but where they stand in the texts. `known_only`: it says something of the pages that the
    project has, and names no new ones. `doubtful_name`: a column's name that reads like data. `has_no_names`: the
    columns are called by their places.
    """

    name: str
    header: tuple[str, ...]
    size = 1
    known: Known | None = None
    is_whole = True
    site_source: int | None = None
    exact_text = False
    places_only = False
    known_only = False
    doubtful_name = ""
    has_no_names = False

    @abstractmethod
    def chunks(self) -> Iterator[Records]:
        """Some records at a time, in the order of their lines; a source without lines numbers its rows from 1.

        Raises UserError where the rows cannot be read to the end. An import is one transaction, so nothing of it stays.
        """

    @property
    def position(self) -> int:
        return 0

    @property
    def allowed_by(self) -> str:
        """Where a user allows that the source holds far less than there was."""
        return "--allow-shrink" if is_command_line() else "the tick box in the preview"

    def __iter__(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Yields (line the record begins on, cells)."""
        for records in self.chunks():
            yield from zip(records.lines, records.rows, strict=True)

    def describe(self) -> dict[str, Any]:
        """For the report and the preview: how the rows were read. The report asks once all of them were."""
        return {"file": self.name}

    def warnings(self) -> list[str]:
        """What may be wrong with the rows, as sentences for the preview."""
        return []

    def period(self) -> Period | None:
        """The days that the rows are about, where the source itself says so."""
        return None

    def filters(self) -> list[str]:
        """What narrowed the rows down where they were taken, such as “Country Germany”."""
        return []

    def first_rows(self) -> list[Sequence[str]]:
        """The first rows that are as wide as the header, as many as are quickly looked at."""
        found, left = [], MAX_SAMPLE_CHARACTERS
        for _, cells in islice(self, SAMPLES):
            left -= sum(map(len, cells))
            if left < 0:
                break
            if len(cells) == len(self.header):
                found.append(cells)
        return found


class SourceKind(ABC):
    """A kind of source, entered in ingest.sources.registry. A file is uploaded; the others are named by a text.

    `--from` and a run's parameters use `name`, the form `label` and `where_label`.
    """

    name: str
    label: str
    where_label: str

    @abstractmethod
    def open(self, project: Project, kind: str, where: str) -> Source:
        """The rows for an import of a kind, such as “pages”, from the place that the user names.

        Called when the run is worked on, and again where its worker was lost. Raises UserError where there are none.
        """
