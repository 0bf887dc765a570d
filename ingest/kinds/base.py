"""The interface of a kind of import, and what the kinds are given to work with.

A kind is a folder next to this file and a line in registry.py. The form, the preview, the commands, the jobs and the
list of imports read what they need from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ingest.asked_from import is_command_line
from ingest.errors import ImportStopped
from ingest.fields.mapping import listed
from ingest.fields.skipped import REASONS
from ingest.kinds.project_pages import site_of
from linker.models.run import IMPORT_PREFIX
from linker.wording import joined, within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from ingest.addresses.normalise import Site
    from ingest.fields.mapping import Columns, FieldSet
    from ingest.fields.skipped import Skipped
    from ingest.sources.base import Source
    from linker.models import Project, Run
    from linker.runs.lifecycle import Progress
    from linker.runs.reports import ReportKind

Counts = dict[str, Any]  # of a report, by the names of its fields
SHRINK_FROM, SHRINK_TO = 20, 0.8


@dataclass(frozen=True)
class Note:
    """A remark on rows, for the preview; `warn` where something may be wrong."""

    text: str
    warn: bool = False


@dataclass(frozen=True)
class Option:
    """What a user may choose apart from the columns: a tick, or a text.

    `clean` is for a text in the form: it returns the text as it is kept, and raises UserError where it means nothing.
    """

    name: str
    label: Any
    help_text: Any
    command_help: str
    is_tick: bool = False
    max_length: int = 60
    clean: Callable[[str], str] = str


ALLOW_SHRINK = Option(
    "allow_shrink",
    label=_("Import even if the file has far fewer entries than the project"),
    help_text=_("Otherwise the import stops if it would mark more than a fifth of them as missing."),
    command_help="import although the file holds far less than the project has",
    is_tick=True,
)


@dataclass(frozen=True)
class MappedRows:
    """Rows of a source, which columns fill which fields, the first rows, and what else the user chose."""

    project: Project
    kind: ImportKind
    source: Source
    mapping: Columns
    samples: Sequence[Sequence[str]]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def header(self) -> tuple[str, ...]:
        return self.source.header

    @property
    def site(self) -> Site:
        return site_of(self.project)

    def cells(self, column: str) -> list[str]:
        """The first rows' cells of a column."""
        index = self.header.index(column)
        return [row[index].strip() for row in self.samples]


@dataclass(frozen=True)
class ImportTask:
    """One import to be done, within a transaction of its own: all of it or nothing."""

    rows: MappedRows
    skipped: Skipped
    progress: Progress
    seen_at: datetime = field(default_factory=timezone.now)
    run: Run | None = None

    @property
    def project(self) -> Project:
        return self.rows.project

    @property
    def source(self) -> Source:
        return self.rows.source

    def note_reading(self) -> None:
        """Says how far the reading has come."""
        self.progress(min(self.source.position, self.source.size - 1), self.source.size, "Reading rows")

    def note_stage(self, stage: str) -> None:
        """Says what is done once all rows are read."""
        self.progress(self.source.size - 1, self.source.size, stage)

    def note_substage(self, done: int, total: int, stage: str = "") -> None:
        """The progress of a service that this import calls; only its words are shown."""
        self.note_stage(stage)

    def note_done(self) -> None:
        self.progress(self.source.size, self.source.size, "Done")

    def stop(self, text: str, report: Counts) -> ImportStopped:
        """The error that ends an import before anything is loaded."""
        return ImportStopped(text, report | self.skipped.report())

    def stop_for_shrinking(self, text: str, report: Counts) -> ImportStopped:
        """The same where there are far fewer rows than the project has."""
        return self.stop(text, report | {"shrank": True})

    def stop_without_rows(self, what: str, report: Counts) -> ImportStopped:
        """The same where no row can be used. `what` a row should be, such as “a page”."""
        text = f"{self.source.name}: no row is {what} of {self.project.base_url}."
        if self.skipped.first is not None:
            line, reason, address = self.skipped.first
            text += f" Line {line:,}: {within(REASONS[reason])}{f' ({address[:200]})' if address else ''}."
        if self.skipped.counts["another_site"]:
            text += " Check the project's base URL, or choose the right file."
        return self.stop(text, report)


def shrinks(before: int, now: int) -> bool:
    """Whether a new import holds suspiciously fewer than what is there."""
    return before >= SHRINK_FROM and now < SHRINK_TO * before


class ImportKind(ABC):
    """A kind of import: what its files look like, what is said about them, and how their rows are loaded.

    `name` is one word of at most eight letters, in the plural: it is part of addresses, of a run's kind (“import_” and
    the name) and of messages (“a file of links”). The preview shows `label`, the form `choice` and the command line
    `command_help`. `report` is what an import counts, with its words. `options` are what a user may choose apart from
    the columns. `preferred_files` are names, in small letters, of files to take out of an archive of several.
    `pages_first` is said where the project has no pages, and they are to be imported first.
    `corrects` are the kinds that users choose by mistake for files that are certainly of this one. `preview_template`
    adds words to the top of the preview. `own_command` is a shorter name than `import_file` and the kind's, where there
    is a module of that name.
    """

    name: ClassVar[str]
    label: ClassVar[Any]
    choice: ClassVar[Any]
    command_help: ClassVar[str]
    fields: ClassVar[FieldSet]
    report: ClassVar[ReportKind[Any]]
    options: ClassVar[tuple[Option, ...]] = ()
    preferred_files: ClassVar[frozenset[str]] = frozenset()
    corrects: ClassVar[frozenset[str]] = frozenset()
    pages_first: ClassVar[str] = ""
    preview_template: ClassVar[str] = ""
    own_command: ClassVar[str] = ""

    @abstractmethod
    def load(self, task: ImportTask) -> Counts:
        """Reads the rows and loads them. Returns the counts of the report, by the fields of its type.

        Raises ImportStopped (with the report so far) where the rows must not be loaded.
        """

    @property
    def noun(self) -> str:
        """What its files hold, in the middle of a sentence of the reader's language."""
        return gettext(self.name)

    @property
    def run_kind(self) -> str:
        return f"{IMPORT_PREFIX}{self.name}"

    @property
    def command(self) -> str:
        """What imports a file of this kind on the command line."""
        return self.own_command or f"import_file {self.name}"

    @property
    def marks_missing(self) -> bool:
        """Whether a file says of all it holds that it is there, and of all else that it is gone."""
        return ALLOW_SHRINK in self.options

    def recognises(self, header: Sequence[str]) -> bool:
        """Whether a file is of this kind, going by the names of its columns. The registry's order is theirs."""
        return self.fields.has_required(header)

    def is_sure_of(self, header: Sequence[str]) -> bool:
        """Whether more columns than the required ones say so."""
        return self.fields.has_required(header) and len(self.fields.by_name(header)) > 2

    def takes_from_pages(self, mapping: Columns) -> bool:
        """Whether a file that this kind recognises is not one of pages, though it could be read so by `mapping`."""
        return set(mapping) <= set(self.fields.names)

    def guess(self, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
        """The mapping that names and contents suggest; fields for which nothing was found are absent.

        `samples` are the cells of the first rows.
        """
        return self.fields.by_name(header)

    def what_is_missing(self, header: Sequence[str], mapping: Columns) -> str:
        """Which required fields have no column and what to do about it; empty where none is missing."""
        missing = self.fields.without_column(mapping)
        if not missing:
            return ""
        said = gettext("No column for %(fields)s was found. The columns are: %(columns)s.")
        labels = joined([gettext("“%(label)s”") % {"label": one.label} for one in missing])
        return f"{said % {'fields': labels, 'columns': listed(header)}} {self.how_to_choose(missing[0].name)}"

    def how_to_choose(self, name: str) -> str:
        """How the user says which column fills a field: in the preview, or to the command."""
        if is_command_line():
            return gettext("If one of them holds it, name it with --map %(field)s=COLUMN.") % {"field": name}
        label = next(field.label for field in self.fields.fields if field.name == name)
        return gettext("If one of them holds it, choose it in the preview at “%(field)s”.") % {"field": label}

    def notes(self, rows: MappedRows) -> list[Note]:
        """What the user should know of this kind of import before confirming it."""
        return []

    def check_options(self, name: str, options: Mapping[str, Any]) -> None:
        """Raises FileError where an option means nothing; `name` is the source's."""
        return

    def chosen_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Of what was given, the options of this kind: each tick, and the texts that are not empty."""
        chosen: dict[str, Any] = {}
        for option in self.options:
            if option.is_tick:
                chosen[option.name] = bool(given.get(option.name))
            elif given.get(option.name):
                chosen[option.name] = given[option.name]
        return chosen
