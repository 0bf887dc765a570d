"""What is said of a file before it is imported: what it is known for, which columns fill which fields, what to note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from ingest.addresses.normalise import AnotherSite
from ingest.asked_from import is_command_line
from ingest.errors import FileError
from ingest.formats.known_file import KnownFileError
from ingest.kinds import registry
from ingest.kinds.base import MappedRows, Note
from ingest.kinds.project_pages import without_pages
from ingest.remembered import chosen_before
from ingest.sources.file import FileSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ingest.fields.mapping import Field
    from ingest.formats.known_file import Known
    from ingest.kinds.base import ImportKind
    from ingest.sources.base import Source
    from linker.models import Project

MAX_SAMPLE = 300  # characters of a value shown
MAX_DOUBTFUL = 100  # characters of a name shown


@dataclass(frozen=True)
class FilePreview(MappedRows):
    """A file looked at: how it is read, which columns fill which fields, and its first rows."""

    @property
    def known(self) -> Known | None:
        return self.source.known

    def values(self, field: Field, most: int = 3) -> list[str]:
        """The first `most` values of a field as they would be imported, several columns' joined."""
        places = [self.header.index(column) for column in self.mapping.get(field.name, [])]
        filled = ([row[i].strip() for i in places if row[i].strip()] for row in self.samples)
        if field.first:
            prefix = next(iter(self.mapping.get("prefix", [])), "")
            found = (self.site.full_address(cells[0], prefix) for cells in filled if cells)
        else:
            found = (" › ".join(cells) for cells in filled if cells)
        return [value[:MAX_SAMPLE] for value, _ in zip(found, range(most), strict=False)]

    @property
    def header_doubt(self) -> str:
        """A sentence where the row that was read as the header may not be one."""
        if not self.source.doubtful_name or self.known is not None:
            return ""
        said = gettext("The first row may not be a header: one of its names is “%(name)s”.")
        return said % {"name": self.source.doubtful_name[:MAX_DOUBTFUL]}

    @property
    def left_out(self) -> list[str]:
        """Columns that no field takes."""
        taken = {column for columns in self.kind.fields.columns_of(self.mapping).values() for column in columns}
        return [column for column in self.header if column not in taken]

    @property
    def better_kind(self) -> ImportKind | None:
        """The import that takes the file, where that is another than this one; None where none is known."""
        if self.known is None:
            return registry.better_kind(self.kind, self.header, self.mapping)
        found = registry.find(self.known.kind)
        return None if found is self.kind else found

    @property
    def is_for_this(self) -> bool:
        """Whether nothing is known of the file that speaks against importing it as this kind."""
        return self.better_kind is None if self.known is None else self.known.kind == self.kind.name

    @property
    def warns(self) -> bool:
        """Whether what is known of the file is a warning."""
        return not self.is_for_this or (self.known is not None and self.known.doubt)

    @property
    def objection(self) -> str:
        """Why the file is not one to be imported as this kind, and what to do instead; empty where it is."""
        if self.is_for_this:
            return ""
        if self.known is None:
            return self.missing
        if better := self.better_kind:
            said = gettext("%(what)s It is a file of %(other)s, not of %(kind)s: import it as %(other)s.")
            said %= {"what": self.known.what, "other": better.noun, "kind": self.kind.noun}
            missing = better.what_is_missing(self.header, better.guess(self.header, self.samples))
            return f"{said} {missing}" if missing else said
        return self.known.text

    @property
    def missing(self) -> str:
        """Which required fields have no column, and what to do about it; empty where none is missing."""
        return registry.what_is_missing(self.kind, self.header, self.mapping)

    @property
    def without_pages(self) -> str:
        """What to do first where the project has no pages that the rows could be about; empty where nothing is."""
        first = self.kind.pages_first
        return without_pages(first) if first and not self.project.pages.exists() else ""

    @property
    def notes(self) -> list[Note]:
        """What the user should know before confirming."""
        if not self.is_for_this:
            return []
        if self.missing:
            return [Note(self.missing, True)]
        of_others = [Note(text, True)] if (text := self.of_another_site) else []
        return [*of_others, *self.kind.notes(self), *(Note(text, True) for text in self.source.warnings())]

    @property
    def of_another_site(self) -> str:
        """A sentence where the addresses of the first rows are those of other sites alone."""
        columns = self.mapping.get("url") or self.mapping.get("source") or []
        prefix = next(iter(self.mapping.get("prefix", [])), "")
        hosts: set[str] = set()
        for address in filter(None, (cell for column in columns for cell in self.cells(column))):
            try:
                self.site.canonical_url(self.site.full_address(address, prefix))
            except AnotherSite:
                hosts.add(urlsplit(address).netloc)
            except ValueError:
                continue
            else:
                return ""
        if not hosts:
            return ""
        said = gettext(
            "The first rows are pages of %(host)s, and this project is of %(site)s: rows of another site are left out."
        )
        return said % {"host": min(hosts), "site": self.project.base_url}


def preview_file(
    project: Project,
    kind: str,
    path: Path,
    name: str,
    mapping: Mapping[str, Sequence[str]] | None,
    encoding: str = "",
    options: Mapping[str, Any] | None = None,
    *,
    delimiter: str = "",
    no_header: bool = False,
) -> FilePreview:
    """Looks at the first rows of a file and settles its mapping, required fields or not. `encoding`, `delimiter` and
    `no_header` are the user's word; where they are empty it is found out.

    Raises UnusableFile, or KnownFileError where the file is known to be none that can be imported in any way.
    """
    chosen = registry.get(kind)
    source = FileSource.open(
        path,
        name,
        kind=kind,
        known_columns=registry.known_columns(),
        preferred=chosen.preferred_files,
        encoding=encoding,
        delimiter=delimiter,
        no_header=no_header,
    )
    return preview(project, chosen, source, mapping, options)


def preview(
    project: Project,
    kind: ImportKind,
    source: Source,
    mapping: Mapping[str, Sequence[str]] | None,
    options: Mapping[str, Any] | None,
) -> FilePreview:
    """Settles which columns fill which fields. Raises FileError for a mapping that the source cannot have."""
    samples = source.first_rows()
    guessed = kind.guess(source.header, samples)
    remembered = None if source.has_no_names else chosen_before(project, kind, source.header)
    if remembered is None:  # of other columns, those that it has; what was left out there is not left out here
        texts = {field.name for field in kind.fields.fields if field.text}
        of_kind = project.import_mappings.get(kind.name, {})
        remembered = {field: columns for field, columns in of_kind.items() if columns or field in texts}
    resolved = kind.fields.resolve(guessed, source.name, source.header, remembered, mapping or {})
    return FilePreview(project, kind, source, resolved, samples, options or {})


def check_loadable(found: FilePreview, wanted: Mapping[str, Sequence[str]] | None) -> None:
    """Raises KnownFileError where a file is known to be something else and the user chose no columns, FileError where a
    required field has no column."""
    if found.objection and found.known is not None and not found.kind.fields.columns_of(wanted or {}):
        command = f" The command is {found.better_kind.command}." if found.better_kind and is_command_line() else ""
        raise KnownFileError(found.source.name, found.known, found.objection + command)
    if text := found.missing:
        raise FileError(found.source.name, text)
