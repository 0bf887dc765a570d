"""Importing a file: look at it, read it, check it, load it. A report of counts comes back."""

from __future__ import annotations

import hashlib
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingest.addresses.destinations import Moves, PageFinder, destinations
from ingest.addresses.normalise import Site
from ingest.cells.markup import is_markup
from ingest.errors import FileError, ImportStopped, UnusableFile
from ingest.fields import schema
from ingest.fields.skipped import OF_CELLS, OF_ROWS, REASONS, Skipped
from ingest.files import peek, uploads
from ingest.files.sniff import inspect
from ingest.files.table import Records, Table
from ingest.formats import generic, known, shopify
from ingest.formats.known import KnownFileError
from ingest.kinds import loader
from ingest.kinds.links.parse import IGNORED, LinkParser
from ingest.kinds.pages.parse import PageParser, Pages, Trails
from ingest.kinds.queries.parse import QueryParser
from ingest.kinds.traffic.parse import TrafficParser
from ingest.kinds.traffic.periods import Period, TooLong, parse_period, told_by_file
from ingest.models import Upload
from linker.models import PageTraffic, Project, QuerySource, RunKind, TrafficPeriod, TrafficSource
from linker.models.project import UrlPolicy
from linker.pages.languages import detect_all, language_counts, read_languages
from linker.pages.roles import find_roles
from linker.pages.sensitivity import find_sensitive
from linker.runs.lifecycle import no_progress, start_run
from linker.storage.background import BackgroundCopy
from linker.storage.references import lock_references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from django.contrib.auth.models import AbstractBaseUser
    from django.core.files.uploadedfile import UploadedFile

    from linker.models import Run
    from linker.runs.lifecycle import Progress

LANGUAGE_FROM = {"title", "body", "language"}  # columns that say which language a page is in
MAX_SAMPLE = 300  # characters of a value shown
SAMPLES = 50  # rows looked at for guesses
SAMPLE_CHARACTERS = 2**22  # of these rows together
STAGE_ROWS = 20_000
NO_ROWS = (
    "The file has a header but no rows below it, so there is nothing to import. Export it again, and check that the "
    "crawl or report it comes from is finished and not empty."
)
SHRINK_FROM, SHRINK_TO = 20, 0.8
RUN_KINDS = {
    schema.PAGES: RunKind.IMPORT_PAGES,
    schema.LINKS: RunKind.IMPORT_LINKS,
    schema.QUERIES: RunKind.IMPORT_QUERIES,
    schema.TRAFFIC: RunKind.IMPORT_TRAFFIC,
}
Report = dict[str, Any]


def site_of(project: Project) -> Site:
    return Site(
        project.base_url,
        strip_slash=project.trailing_slash == UrlPolicy.STRIP,
        strip_www=project.www == UrlPolicy.STRIP,
    )


# ---------------------------------------------------------------------------------------------------------- files


def take_upload(
    project: Project, user: AbstractBaseUser | None, *, file: UploadedFile, kind: str = "", encoding: str = ""
) -> Upload:
    """Copies an uploaded file under UPLOAD_ROOT, in constant memory; an empty kind is found out, and what was taken
    for pages but holds traffic is traffic.

    Whatever it raises, it keeps nothing: FileError where it is no file we can read, or where there is no room for it.
    """
    name = file.name or "upload"
    path = f"{project.pk}/{uuid.uuid4().hex}"
    target = settings.UPLOAD_ROOT / path
    try:
        uploads.copy(file, name, target)
        if kind in ("", schema.PAGES):
            found = find_kind(target, name, encoding)
            kind = found if found == schema.TRAFFIC else kind or found
        look(project, kind, target, name, None, encoding)
        return _upload(project, kind, name, path, target, user, encoding)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def register_file(
    project: Project, kind: str, file: Path, user: AbstractBaseUser | None = None, encoding: str = ""
) -> Upload:
    """An Upload of a file that stays where it is. Raises FileError where it cannot be read."""
    if not file.is_file():
        raise FileError(str(file), "There is no such file.")
    return _upload(project, kind, file.name, str(file.resolve()), file, user, encoding)


def _upload(
    project: Project, kind: str, name: str, path: str, file: Path, user: AbstractBaseUser | None, encoding: str
) -> Upload:
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return Upload.objects.create(
        project=project,
        kind=kind,
        name=name[-255:],
        path=path,
        bytes=file.stat().st_size,
        sha256=digest,
        encoding=encoding,
        uploaded_by_id=user.pk if user is not None else None,
    )


def skipped_path(project_id: int, run_id: int) -> Path:
    """Where a run lists the rows it left out."""
    return settings.UPLOAD_ROOT / str(project_id) / f"skipped-{run_id}.csv"


# -------------------------------------------------------------------------------------------------------- looking


@dataclass(frozen=True)
class Note:
    """A remark on a file; `warn` where something may be wrong."""

    text: str
    warn: bool = False


@dataclass(frozen=True)
class Look:
    """A file looked at: how it is read, which columns fill which fields, and its first rows.

    `period`: the user's word on the days that a file of traffic is about.
    """

    project: Project
    kind: str
    table: Table
    mapping: schema.Columns
    samples: list[Sequence[str]]
    site: Site
    known: known.Known | None
    period: Period | None = None

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.format.header

    def values(self, field: schema.Field, most: int = 3) -> list[str]:
        """The first `most` values of a field as they would be imported, several columns' joined."""
        places = [self.header.index(column) for column in self.mapping.get(field.name, [])]
        filled = ([row[i].strip() for i in places if row[i].strip()] for row in self.samples)
        if field.first:
            prefix = next(iter(self.mapping.get("prefix", [])), "")
            found = (self.site.full_address(cells[0], prefix) for cells in filled if cells)
        else:
            found = (" › ".join(cells) for cells in filled if cells)
        return [value[:MAX_SAMPLE] for value, _ in zip(found, range(most), strict=False)]

    def cells(self, column: str) -> list[str]:
        """The first rows' cells of a column."""
        index = self.header.index(column)
        return [row[index].strip() for row in self.samples]

    @property
    def left_out(self) -> list[str]:
        """Columns that no field takes."""
        taken = {column for columns in schema.columns_of(self.mapping).values() for column in columns}
        return [column for column in self.header if column not in taken]

    @property
    def vector_columns(self) -> list[str]:
        """Columns whose cells look like embeddings."""
        return generic.vector_columns(self.header, self.samples)

    @property
    def better_kind(self) -> str:
        """The import that takes the file, where that is another than this one; empty where none is known."""
        if self.known is None:
            return schema.better_kind(self.kind, self.header, self.mapping)
        kind = self.known.kind
        return kind if kind != self.kind and kind in schema.FIELDS else ""

    @property
    def is_for_this(self) -> bool:
        """Whether nothing is known of the file that speaks against importing it as this kind."""
        return not self.better_kind if self.known is None else self.known.kind == self.kind

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
            return schema.what_is_missing(self.kind, self.header, self.mapping)
        if self.better_kind:
            better = self.better_kind
            return f"{self.known.what} It is a file of {better}, not of {self.kind}: import it as {better}."
        return self.known.text

    @property
    def missing(self) -> str:
        """Which required fields have no column, and what to do about it; empty where none is missing."""
        return schema.what_is_missing(self.kind, self.header, self.mapping)

    @property
    def notes(self) -> list[Note]:
        """What the user should know before confirming."""
        if not self.is_for_this:
            return []
        if self.missing:
            return [Note(self.missing, True)]
        return [*self._notes_of_kind, *_end_notes(self.table)]

    @property
    def _notes_of_kind(self) -> list[Note]:
        if self.kind == schema.LINKS:
            return _link_notes(self)
        if self.kind == schema.QUERIES:
            return [_query_note(self)]
        if self.kind == schema.TRAFFIC:
            return _traffic_notes(self)
        return [*_breadcrumb_notes(self), *_vector_notes(self), *_crawl_notes(self)]

    @property
    def has_crumbs(self) -> bool:
        """Whether one of the first rows fills one of the breadcrumb's columns."""
        return any(cell for column in self.mapping.get("breadcrumb", []) for cell in self.cells(column))

    @property
    def without_crumbs(self) -> Look:
        """The same file with the categories' next source: JSON-LD in other columns, else the addresses' folders."""
        chosen = self.mapping.get("breadcrumb", [])
        structured = [name for name in generic.json_ld_columns(self.header, self.samples) if name not in chosen]
        rest = {field: columns for field, columns in self.mapping.items() if field != "breadcrumb"}
        return replace(self, mapping=rest | ({"breadcrumb": structured} if structured else {}))

    @property
    def has_json_ld(self) -> bool:
        """Whether the breadcrumb's columns hold JSON-LD."""
        chosen = set(self.mapping.get("breadcrumb", []))
        return bool(chosen & set(generic.json_ld_columns(self.header, self.samples)))

    @property
    def has_markup(self) -> bool:
        """Whether the main text is HTML."""
        cells = [cell for column in self.mapping.get("body", []) for cell in self.cells(column) if cell]
        return is_markup(cells)


def _end_notes(table: Table) -> list[Note]:
    """A cell that was cut off, such as the “9” of “99”, looks like any other: only its line shows it."""
    line = table.find_open_line()
    return [Note(f"The last line ({line:,}) has no line end: the file may have been cut off there.", True)] * bool(line)


def _breadcrumb_notes(looked: Look) -> list[Note]:
    if "breadcrumb" not in looked.mapping:
        if not _is_crawl(looked):
            return []
        text = "Categories come from the folders of the addresses, for want of a breadcrumb: a weak source."
        return [Note(text, True)]
    columns = looked.mapping["breadcrumb"]
    if not looked.has_crumbs:
        return [Note(_no_crumbs(looked, columns), True)]
    if shopify.is_products(looked.header):
        return [Note(f"Categories come from “{columns[0]}”.")]
    where = columns[0] if len(columns) == 1 else f"{columns[0]} and {len(columns) - 1} more"
    how = "JSON-LD in " if looked.has_json_ld else ""
    return [Note(f"Categories come from the breadcrumb in {how}{where}.")]


def _no_crumbs(looked: Look, columns: list[str]) -> str:
    """What becomes of the categories where the first rows leave the breadcrumb's columns empty."""
    others = looked.without_crumbs.mapping.get("breadcrumb")
    empty = f"“{columns[0]}” is" if len(columns) == 1 else f"“{columns[0]}” and {len(columns) - 1} more are"
    if others:
        instead = f"categories come from the breadcrumb in JSON-LD in {others[0]}"
    elif _is_crawl(looked):
        instead = "categories come from the folders of the addresses, a weak source"
    else:
        instead = "the pages keep the categories they have"
    return f"{empty} empty in the first rows. If no row of the file holds a breadcrumb, {instead}."


def _vector_notes(looked: Look) -> list[Note]:
    notes = []
    chosen = looked.mapping.get("vector", [])
    if chosen:
        lengths = sorted({value.count(",") + 1 for value in looked.cells(chosen[0]) if value})
        told = " and ".join(map(str, lengths))
        notes.append(
            Note(f"“{chosen[0]}” holds embedding vectors of {told} numbers. One length is kept.", len(lengths) > 1)
            if lengths
            else Note(f"“{chosen[0]}” is empty in the first rows.", True)
        )
    others = [column for column in looked.vector_columns if column not in chosen]
    if others:
        notes.append(Note(f"More columns look like embedding vectors: {', '.join(others)}. One can be imported."))
    return notes


def _is_crawl(looked: Look) -> bool:
    """Whether a file says which pages there are. One without titles and texts adds numbers or vectors to pages."""
    return bool(schema.TEXTS & set(looked.mapping))


def _crawl_notes(looked: Look) -> list[Note]:
    if _is_crawl(looked):
        return []
    return [
        Note(
            "The file has neither titles nor texts: it adds to pages that are there, makes none and marks none as "
            "missing.",
            True,
        )
    ]


def _link_notes(looked: Look) -> list[Note]:
    if "link_position" in looked.mapping:
        return []
    return [
        Note(
            "The file does not say where on the page a link stands. Links that many pages have alike are taken for "
            "template links.",
            True,
        )
    ]


def _query_note(looked: Look) -> Note:
    for field in ("importance", "impressions"):
        if field in looked.mapping:
            return Note(f"A page's queries are weighed by “{looked.mapping[field][0]}”.")
    return Note("The file has neither impressions nor importance: all queries of a page weigh the same.", True)


def _traffic_notes(looked: Look) -> list[Note]:
    source = schema.traffic_source(looked.mapping)
    told = looked.period or told_by_file(looked.table)
    is_told = told is not None or "date" in looked.mapping
    if looked.period is not None:
        when = f"The numbers count as those of {looked.period}."
    elif told is not None and told.fault:
        return [Note(told.fault, True)]
    elif told is not None:
        when = f"The file names its period: {told}."
    elif "date" in looked.mapping:
        when = f"The period goes from the first day to the last in “{looked.mapping['date'][0]}”."
    else:
        when = "The file does not name its period. Write it below, or it counts as unknown."
    return [
        Note(
            f"The numbers are added to the pages that the addresses mean, as those of {source.label}. Nothing else of "
            "a page changes, and no page is made or marked as missing."
        ),
        Note(f"{when} What was imported of the same source and period is replaced.", warn=not is_told),
        *_replaced_notes(looked, source, told),
        *_filter_notes(looked.table),
    ]


def _replaced_notes(looked: Look, source: TrafficSource, told: Period | None) -> list[Note]:
    """Which numbers there are that the file takes the place of, or may: its days are known only when all is read."""
    periods = TrafficPeriod.objects.filter(project=looked.project, source=source).order_by("-ends")
    if told is None and "date" in looked.mapping:
        if not (known_days := [str(period) for period in periods[:5]]):
            return []
        return [Note(f"There are numbers of {source.label} of these days already: {', '.join(known_days)}.")]
    same = periods.filter(starts=told.starts, ends=told.ends) if told else periods.filter(starts=None)
    pages = PageTraffic.objects.filter(period__in=same).count()
    if not pages:
        return []
    have = "1 page has" if pages == 1 else f"{pages:,} pages have"
    return [
        Note(
            f"{have} numbers of this source and period ({told or 'unknown'}) already. This import replaces them, and "
            "those that the file lacks lose theirs. Exports of parts (folder by folder, or web and then image search) "
            "do not add up: import one export of the whole site.",
            warn=True,
        )
    ]


def _filter_notes(table: Table) -> list[Note]:
    """What narrowed an export of Search Console down, by the table of filters that its archive holds."""
    for _, columns in peek.tables_of(table.path):
        found = known.of_columns(columns)
        if found is None or found.key != "console_filters":
            continue
        filters = [f"{name} {value}"[:MAX_SAMPLE] for name, value in known.narrowing(columns.rows)]
        if filters:
            text = f"The export was made with a filter, so it holds a part of the site’s numbers: {'; '.join(filters)}."
            return [Note(text, warn=True)]
    return []


def look(
    project: Project,
    kind: str,
    path: Path,
    name: str,
    mapping: Mapping[str, Sequence[str]] | None,
    encoding: str = "",
    period: Period | None = None,
) -> Look:
    """Looks at the first rows of a file and settles its mapping, required fields or not.

    Raises UnusableFile, or KnownFileError where the file is known to be none that can be imported in any way.
    """
    start = _recognise(path, name)
    preferred = _members(path, kind) or schema.PREFERRED[kind]
    found = inspect(path, name, known=_column_names(), preferred=preferred, encoding=encoding)
    table = Table(path, name, found, preferred)
    samples = _first_rows(table)
    remembered = project.import_mappings.get(kind, {})
    resolved = schema.resolve(kind, name, found.header, samples, remembered, mapping or {})
    told = start or known.of_columns(peek.Columns(name, found.header, samples))
    if told is not None and told.personal:
        raise KnownFileError(name, told)
    if not samples and next(iter(table), None) is None:
        # A file without rows says that all the project has is gone, and so does an export that failed.
        raise UnusableFile(name, NO_ROWS) if told is None or told.kind else KnownFileError(name, told)
    return Look(project, kind, table, resolved, samples, site_of(project), told, period)


def _recognise(path: Path, name: str) -> known.Known | None:
    """What the beginning of a file says it is. Raises KnownFileError where it is known and no table to import."""
    told = known.of_start(peek.start_of(path, name))
    if told is None or told.kind:
        return told
    inside = known.of_columns(peek.workbook_columns(path)) if told.key == "excel" else None
    raise KnownFileError(name, told, f"{told.text} By its columns: {inside.text}" if inside is not None else "")


def _column_names() -> set[str]:
    """What columns are called in files of any kind, by which the header row is found whatever a file is taken for."""
    return set[str]().union(*schema.KNOWN.values())


def _members(path: Path, kind: str) -> frozenset[str]:
    """The name of the table to take out of an archive of several, where one is known for what it is."""
    member = known.member_for(kind, peek.tables_of(path))
    return frozenset({member.rpartition("/")[2].lower()} - {""})


def _first_rows(table: Table) -> list[Sequence[str]]:
    """The first rows that are as wide as the header, as many as are quickly looked at."""
    found, left = [], SAMPLE_CHARACTERS
    for _, cells in islice(table, SAMPLES):
        left -= sum(map(len, cells))
        if left < 0:
            break
        if len(cells) == len(table.format.header):
            found.append(cells)
    return found


def look_at_upload(
    project: Project, upload: Upload, mapping: Mapping[str, Sequence[str]] | None = None, period: str = ""
) -> Look:
    """Looks at an upload with a mapping, or with the one that was confirmed last, and a period as a user writes it.

    Raises FileError; a file that turns out to be unusable is removed.
    """
    if not upload.is_there:
        raise FileError(upload.name, "The file is no longer there. Upload it again.")
    try:
        said = read_period(upload.name, period)
        return look(project, upload.kind, upload.file, upload.name, mapping or upload.mapping, upload.encoding, said)
    except (UnusableFile, KnownFileError):
        uploads.discard(upload)
        raise


def find_kind(path: Path, name: str, encoding: str = "") -> str:
    """Whether a file holds pages, links or queries. Raises FileError."""
    start = _recognise(path, name)
    preferred = _members(path, "") or set[str]().union(*schema.PREFERRED.values())
    found = inspect(path, name, known=_column_names(), preferred=preferred, encoding=encoding)
    rows = [cells for _, (_, cells) in zip(range(SAMPLES), Table(path, name, found, preferred), strict=False)]
    told = start or known.of_columns(peek.Columns(name, found.header, rows))
    return told.kind if told is not None and told.kind in schema.FIELDS else schema.kind_of(found.header)


def change_kind(upload: Upload, kind: str) -> None:
    """Reads an upload as another kind, with columns yet to be chosen. Raises FileError where there is no such kind."""
    if kind not in schema.FIELDS:
        raise FileError(upload.name, f"There is no import of “{kind}”.")
    Upload.objects.filter(pk=upload.pk).update(kind=kind, mapping={})


def remember_mapping(project: Project, kind: str, looked: Look) -> None:
    """Keeps for the project's next imports what the user chose otherwise than we would have guessed."""
    guessed = schema.guess(kind, looked.header, looked.samples)
    fields = [field.name for field in schema.FIELDS[kind]]
    changed = {
        field: looked.mapping.get(field, [])
        for field in fields
        if looked.mapping.get(field, []) != guessed.get(field, [])
    }
    if "prefix" in changed:
        changed["url"] = looked.mapping.get("url", [])
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        locked.import_mappings[kind] = changed
        locked.save(update_fields=["import_mappings"])


def _look_to_load(
    project: Project, kind: str, path: Path, name: str, mapping: Mapping[str, Sequence[str]] | None, encoding: str
) -> Look:
    looked = look(project, kind, path, name or path.name, mapping, encoding)
    if looked.objection and looked.known is not None and not schema.columns_of(mapping or {}):
        command = f" The command is import_{looked.better_kind}." if looked.better_kind else ""
        raise KnownFileError(looked.table.name, looked.known, looked.objection + command)
    schema.check_required(kind, looked.table.name, looked.header, looked.mapping)
    return looked


# ---------------------------------------------------------------------------------------------------------- pages


def import_pages(
    project: Project,
    path: Path,
    *,
    name: str = "",
    mapping: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "",
    allow_shrink: bool = False,
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Reads a pages file and loads it, all or nothing. Returns the report.

    Raises FileError for a file that cannot be read, ImportStopped (with the report so far) where its rows must not be
    loaded: none of them is a page, or far fewer than the project has.
    """
    looked = _look_to_load(project, schema.PAGES, path, name, mapping, encoding)
    with _listing(skipped_file) as skipped, transaction.atomic():
        load = _PagesLoad(project, looked, skipped, progress)
        report = load.read()
        load.check(report, allow_shrink)
        load.save(report)
    return report


class _PagesLoad:
    """One import of pages: read into the stage, checked, saved."""

    def __init__(self, project: Project, looked: Look, skipped: Skipped, progress: Progress) -> None:
        self.empty_crumbs = _empty_crumbs(looked)
        looked = looked.without_crumbs if self.empty_crumbs else looked
        self.project, self.looked, self.skipped, self.progress = project, looked, skipped, progress
        self.parser = PageParser(
            looked.header,
            looked.mapping,
            site_of(project),
            skipped,
            json_ld=looked.has_json_ld,
            markup=looked.has_markup,
        )
        self.seen_at: datetime = timezone.now()
        self.is_crawl = _is_crawl(looked)
        self.is_first = not project.pages.exists()  # then each of its pages is written once, with its language
        self.rows = 0
        self._keys: list[np.ndarray] = []  # hashes of the pages' keys

    def read(self) -> Report:
        loader.create_page_stage()
        with BackgroundCopy() as background:
            for records in self.looked.table.chunks():
                self.rows += len(records)
                pages = self.parser.parse_all(records)
                self._keys.append(np.array(list(map(hash, pages.columns["canonical_url"])), dtype=np.int64))
                if self.is_first:
                    _read_languages(pages)
                background.wait()
                if pages.vectors:
                    loader.stage_vectors(*zip(*pages.vectors, strict=True))
                loader.stage_pages(background, pages)
                self._read_so_far()
        if self._may_repeat():
            parser = self.parser
            for line, url in loader.drop_duplicates(parser.trails, parser.worth, add_up=parser.has_traffic):
                self.skipped.add(line, "duplicate", address=url)
        if not self.is_crawl:
            for line, url in loader.drop_unknown(self.project):
                self.skipped.add(line, "unknown_page", address=url)
        return {
            **_file_report(self.looked.table),
            "rows": self.rows,
            **loader.count_staged(),
            "duplicates": self.skipped.counts["duplicate"],
            "not_pages": self.parser.not_pages,
            **({"more_rows": self.parser.more_rows} if self.parser.more_rows else {}),
        }

    def _may_repeat(self) -> bool:
        """Whether a page may stand in the file several times: keys that differ have, but for chance, other hashes."""
        keys = np.concatenate([*self._keys, np.empty(0, dtype=np.int64)])
        return len(np.unique(keys)) < len(keys)

    def _read_so_far(self) -> None:
        table = self.looked.table
        self.progress(min(table.position, table.size - 1), table.size, "Reading rows")

    def check(self, report: Report, allow_shrink: bool) -> None:
        if not report["pages"]:
            text = _none_usable(self.project, self.looked.table.name, self.skipped)
            raise ImportStopped(text, report | self._skipped_report())
        live = loader.count_live(self.project)
        if self.is_crawl and not allow_shrink and shrinks(live, report["pages"]):
            raise ImportStopped(
                f"{self.looked.table.name} holds {report['pages']:,} pages where the project has {live:,}: less than "
                f"{SHRINK_TO:.0%}. A part of a crawl would mark all others as missing. If the site did shrink, import "
                "again and allow it (the tick box in the preview, or --allow-shrink).",
                report | self._skipped_report(),
            )

    def save(self, report: Report) -> None:
        size = self.looked.table.size
        self.progress(size - 1, size, "Saving categories")
        loader.lock(self.project)
        source = self.parser.source
        # Folders are a guess at what a crawl leaves open; a file of vectors or numbers is no reason to guess.
        has_categories = self.is_crawl or source != "folders"
        trails = self.parser.trails if has_categories else Trails()
        report["categories"] = loader.merge_categories(self.project, trails)
        report["category_source"] = source if has_categories else ""
        if self.empty_crumbs:
            report["empty_breadcrumb"] = self.empty_crumbs
        if trails.own_crumbs:
            report["own_crumbs"] = trails.own_crumbs
        self.progress(size - 1, size, "Saving pages")
        held = {"linker_project": [self.project.pk], "linker_category": loader.staged_categories()}
        with lock_references(held):
            report |= loader.merge_pages(
                self.project,
                self.parser.filled,
                is_crawl=self.is_crawl,
                weak_category=has_categories and source == "folders",
                strong_category=source != "folders",
                languages_read=self.is_first,
                seen_at=self.seen_at,
            )
        report["missing"] = loader.mark_missing_pages(self.project, self.seen_at) if self.is_crawl else 0
        if self.parser.has_traffic:
            self.progress(size - 1, size, "Saving clicks and impressions")
            report["page_traffic"] = self._save_traffic()
        if "vector" in self.looked.mapping:
            report["vectors"] = self._save_vectors()
        report |= self._skipped_report()
        report["mapping"] = self.looked.mapping
        loader.drop_page_stage()
        loader.refresh_statistics("linker_page", "linker_pageembedding", "linker_category")
        if not LANGUAGE_FROM.isdisjoint(self.parser.filled):
            self.progress(size - 1, size, "Reading the languages of pages")
            read_languages(self.project, lambda done, total, stage="": self.progress(size - 1, size, stage))
            report["languages"] = language_counts(self.project)
        self.progress(size - 1, size, "Looking for sensitive pages")
        report |= find_sensitive(self.project, lambda done, total, stage="": self.progress(size - 1, size, stage))
        report |= find_roles(self.project, lambda done, total, stage="": self.progress(size - 1, size, stage))
        self.progress(size, size, "Done")

    def _save_traffic(self) -> Report:
        """What a crawl knows of Search Console: of its own source, whose period nobody knows."""
        moves = self._moves()
        loader.sum_crawled_traffic(self.project, moves)
        counts = loader.merge_traffic(
            self.project,
            TrafficSource.CRAWL.value,
            None,
            self.seen_at,
            replaces=self.is_crawl,
            # The pages of a crawl have all been written just now.
            loose=moves.end.tolist() if self.is_crawl else None,
        )
        loader.drop_traffic_stage()
        return {key: counts[key] for key in ("pages", "new", "updated", "unchanged", "gone")}

    def _moves(self) -> Moves:
        """Where the project's pages lead. Their addresses are read only if one of them may lead anywhere."""

        @cache
        def finder() -> PageFinder:
            return PageFinder(loader.page_ids(self.project, hold=False), site_of(self.project))

        return destinations(loader.leading_pages(self.project), lambda url, address: finder().find_on(url, address))

    def _save_vectors(self) -> Report:
        """Keeps the most common length; the others are reported, never padded."""
        column = self.looked.mapping["vector"][0]
        lengths = loader.vector_lengths()
        if not lengths:
            return {"column": column, "stored": 0}
        dimensions = next(iter(lengths))
        for line, url, other in loader.other_vectors(dimensions):
            self.skipped.add(
                line, "vector_length", column=column, address=url, value=f"{other} numbers, not {dimensions}"
            )
        model, changed = loader.merge_vectors(self.project, column, dimensions, self.seen_at)
        return {
            "column": column,
            "model": str(model),
            "dimensions": dimensions,
            "stored": lengths[dimensions],
            "new_or_changed": changed,
            "other_length": sum(lengths.values()) - lengths[dimensions],
            "not_understood": self.skipped.counts["bad_vector"],
        }

    def _skipped_report(self) -> Report:
        return _skipped_report(self.skipped)


def _read_languages(pages: Pages) -> None:
    """Says of each page which language its text is in."""
    texts = (pages.columns.get(name) or [""] * len(pages) for name in ("title", "body", "language"))
    pages.columns["detected_language"], pages.columns["language_sureness"] = detect_all(*texts)


def _empty_crumbs(looked: Look) -> list[str]:
    """The breadcrumb's columns where no row of the file fills any of them; reads it as far as the first that does."""
    columns = looked.mapping.get("breadcrumb", [])
    if not columns or looked.has_crumbs:
        return []
    places, width = [looked.header.index(column) for column in columns], len(looked.header)
    rows = (cells for _, cells in looked.table if len(cells) == width)
    return [] if any(cells[place].strip() for cells in rows for place in places) else columns


def _file_report(table: Table) -> Report:
    """What a report says of the file itself, once all of it is read."""
    open_line = {"open_line": table.open_line} if table.open_line else {}
    return {"file": table.name, **table.format.describe(), **open_line}


def shrinks(before: int, now: int) -> bool:
    """Whether a new import holds suspiciously fewer than what is there."""
    return before >= SHRINK_FROM and now < SHRINK_TO * before


@contextmanager
def _listing(path: Path | None) -> Iterator[Skipped]:
    """Rows left out; a FileError half-way carries what has been listed until then.

    What nobody will be told of leaves no list behind, nor does what a killed worker had listed of the same import.
    """
    with Skipped(path) as skipped:
        skipped.drop()
        try:
            yield skipped
        except FileError as error:
            error.report = _skipped_report(skipped) if skipped.counts else {}
            raise
        except ImportStopped:
            raise
        except BaseException:
            skipped.drop()
            raise


def _skipped_report(skipped: Skipped) -> Report:
    """What was left out; no more is listed after this."""
    skipped.close()
    report: Report = {
        "skipped": {REASONS[reason]: count for reason, count in skipped.counts.most_common()},
        "skipped_rows": skipped.count(OF_ROWS),
        "skipped_cells": skipped.count(OF_CELLS),
        "skipped_listed": skipped.listed,
        "skipped_file": bool(skipped.listed),
    }
    if skipped.lost:
        report["skipped_lost"] = True
    return report


def _none_usable(project: Project, name: str, skipped: Skipped, what: str = "a page") -> str:
    text = f"{name}: no row is {what} of {project.base_url}."
    if skipped.first is not None:
        line, reason, address = skipped.first
        text += f" Line {line:,}: {REASONS[reason].lower()}{f' ({address[:200]})' if address else ''}."
    if skipped.counts["another_site"]:
        text += " Check the project's base URL, or choose the right file."
    return text


# ---------------------------------------------------------------------------------------------------------- links


def import_links(
    project: Project,
    path: Path,
    *,
    name: str = "",
    mapping: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "",
    allow_shrink: bool = False,
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Reads a links file and loads it, all or nothing. Returns the report. Raises as import_pages does."""
    looked = _look_to_load(project, schema.LINKS, path, name, mapping, encoding)
    with _listing(skipped_file) as skipped, transaction.atomic():
        return _load_links(project, looked, skipped, allow_shrink, progress)


def _load_links(project: Project, looked: Look, skipped: Skipped, allow_shrink: bool, progress: Progress) -> Report:
    seen_at = timezone.now()
    table = looked.table
    pages = _page_finder(project, table.name, "links")
    parser = LinkParser(looked.header, looked.mapping, pages, skipped)
    held = np.sort(np.fromiter(pages.ids.values(), dtype=np.int64, count=len(pages.ids)))
    with loader.LinkStage(project, seen_at, held, at_once=parser.says_position) as stage:
        rows = _stage(table, parser.parse_all, stage.add, progress)
        stage.wait()
        report: Report = {**_file_report(table), "rows": rows}
        if not parser.says_position:
            report["made_template_by_repetition"] = loader.part_repeated_links()
        live = 0 if stage.at_once else loader.count_live_links(project)
        # Where the project has too few to compare with, the merge counts them.
        report["links"] = loader.count_staged_links() if live >= SHRINK_FROM else stage.rows
        report["ignored"] = {IGNORED[reason]: count for reason, count in parser.ignored.most_common()}
        _check_links(project, table.name, report | _skipped_report(skipped), skipped, live, allow_shrink)
        progress(table.size - 1, table.size, "Saving links")
        loader.lock(project)
        report |= stage.merge()
    report["links"] = report["new"] + report["seen_before"]
    report["missing"] = 0 if stage.at_once else loader.mark_missing_links(project, seen_at)
    progress(table.size - 1, table.size, "Counting links")
    loader.refresh_statistics("linker_existinglink")
    stage.count_page_links()
    loader.drop_link_stage()
    report |= find_roles(project, lambda done, total, stage="": progress(table.size - 1, table.size, stage))
    progress(table.size, table.size, "Done")
    return report | _skipped_report(skipped) | {"mapping": looked.mapping}


def _page_finder(project: Project, name: str, kind: str) -> PageFinder:
    """Finds the pages that a file's addresses mean, and those at which they end. `kind`: links, queries or traffic."""
    ids = loader.page_ids(project)
    if not ids:
        raise FileError(name, f"The project has no pages yet. Import the pages first, then their {kind}.")
    finder = PageFinder(ids, site_of(project))
    finder.moves = destinations(loader.leading_pages(project), finder.find_on, of_links=kind == schema.LINKS)
    return finder


def _stage(
    table: Table,
    parse: Callable[[Records], Any],
    stage: Callable[[list[Any]], None],
    progress: Progress,
) -> int:
    """Reads all rows into the stage, what `parse` makes of some at a time. Returns how many there were."""
    found: list[Any] = []
    rows = staged = 0
    for records in table.chunks():
        found.append(parse(records))
        rows += len(records)
        if rows >= staged + STAGE_ROWS:
            stage(found)
            found, staged = [], rows
            progress(min(table.position, table.size - 1), table.size, "Reading rows")
    stage(found)
    return rows


def _check_links(project: Project, name: str, report: Report, skipped: Skipped, live: int, allow_shrink: bool) -> None:
    if not report["links"]:
        if skipped.counts:
            raise ImportStopped(_none_usable(project, name, skipped), report)
        raise ImportStopped(f"{name}: none of its {report['rows']:,} rows is a link between two pages.", report)
    if not allow_shrink and shrinks(live, report["links"]):
        raise ImportStopped(
            f"{name} holds {report['links']:,} links where the project has {live:,}: less than {SHRINK_TO:.0%}. A part "
            "of a crawl would mark all others as missing. If the links did go, import again and allow it (the tick "
            "box in the preview, or --allow-shrink).",
            report,
        )


# -------------------------------------------------------------------------------------------------------- queries


def import_queries(
    project: Project,
    path: Path,
    *,
    name: str = "",
    mapping: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "",
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Reads a file of pages' search queries and loads it, all or nothing. Returns the report.

    A file with an importance is one of wishes (JOIL's), any other is Search Console's; each updates the queries of its
    own source alone. Queries that the file lacks stay as they are. Raises as import_pages does.
    """
    looked = _look_to_load(project, schema.QUERIES, path, name, mapping, encoding)
    with _listing(skipped_file) as skipped, transaction.atomic():
        return _load_queries(project, looked, skipped, progress)


def _load_queries(project: Project, looked: Look, skipped: Skipped, progress: Progress) -> Report:
    seen_at = timezone.now()
    table = looked.table
    parser = QueryParser(looked.header, looked.mapping, _page_finder(project, table.name, "queries"), skipped)
    loader.create_query_stage()
    rows = _stage(table, parser.parse_all, loader.stage_queries, progress)
    staged = loader.count_staged_queries()
    report: Report = {**_file_report(table), "rows": rows}
    if not staged:
        text = _none_usable(project, table.name, skipped, "a query of a page")
        raise ImportStopped(text, report | _skipped_report(skipped))
    progress(table.size - 1, table.size, "Saving queries")
    loader.lock(project)
    source = QuerySource.JOIL if "importance" in looked.mapping else QuerySource.SEARCH_CONSOLE
    report |= {"query_source": source.value, **loader.merge_queries(source.value, parser.filled, seen_at)}
    if parser.moved:
        report["rows_moved"] = parser.moved
    report["rows_summed"] = staged - report["queries"]
    loader.drop_query_stage()
    loader.refresh_statistics("linker_pagequery")
    progress(table.size, table.size, "Done")
    return report | _skipped_report(skipped) | {"mapping": looked.mapping}


# -------------------------------------------------------------------------------------------------------- traffic


def import_traffic(
    project: Project,
    path: Path,
    *,
    name: str = "",
    mapping: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "",
    period: str = "",
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Reads a file of clicks, impressions, positions or hits and adds it to the pages it means, all or nothing.

    `period` is the user's word on the days that were counted, see periods.parse_period; empty takes what the file
    tells, else it is unknown. What was imported of the same source and period is replaced. Returns the report; raises
    as import_pages does.
    """
    looked = _look_to_load(project, schema.TRAFFIC, path, name, mapping, encoding)
    said = read_period(looked.table.name, period)
    with _listing(skipped_file) as skipped, transaction.atomic():
        return _load_traffic(project, looked, said, skipped, progress)


def read_period(name: str, text: str) -> Period | None:
    """The period that a user wrote; None where nothing is written. Raises FileError where it is none, or too long."""
    try:
        return parse_period(text) if text.strip() else None
    except TooLong as error:
        raise FileError(name, str(error)) from None
    except ValueError:
        raise FileError(
            name,
            f"“{text.strip()[:100]}” is not a period. Write a month (2026-01), a day, a year, or the first and the "
            "last day (2026-01-01 to 2026-03-31).",
        ) from None


def _load_traffic(project: Project, looked: Look, said: Period | None, skipped: Skipped, progress: Progress) -> Report:
    seen_at = timezone.now()
    table = looked.table
    parser = TrafficParser(looked.header, looked.mapping, _page_finder(project, table.name, "traffic"), skipped)
    loader.create_traffic_stage()
    rows = 0
    with BackgroundCopy() as background:
        for records in table.chunks():
            rows += len(records)
            traffic = parser.parse_all(records)
            background.wait()
            loader.stage_traffic(background, traffic)
            progress(min(table.position, table.size - 1), table.size, "Reading rows")
    report: Report = {**_file_report(table), "rows": rows, **_accounts(parser)}
    if not parser.rows["on_pages"]:
        text = _none_usable(project, table.name, skipped, "traffic of a page")
        raise ImportStopped(text, report | _skipped_report(skipped))
    period = said or told_by_file(table) or parser.period
    if period is not None and period.fault:
        raise ImportStopped(f"{table.name}: {period.fault}", report | _skipped_report(skipped))
    progress(table.size - 1, table.size, "Saving traffic")
    loader.lock(project)
    source = schema.traffic_source(looked.mapping)
    rows_with_numbers = loader.sum_traffic()
    counts = loader.merge_traffic(project, source.value, period, seen_at, replaces=True, loose=())
    loader.drop_traffic_stage()
    report |= {"traffic_source": source.value, "period": str(period or ""), "traffic": counts.pop("pages"), **counts}
    report["rows_added"] = rows_with_numbers - report["traffic"]
    before = report["traffic"] - report["new"] + report["gone"]
    if shrinks(before, report["traffic"]):
        report["traffic_before"] = before
    if report["set"]:
        loader.refresh_statistics("linker_page")
    progress(table.size, table.size, "Done")
    return report | _skipped_report(skipped) | {"mapping": looked.mapping}


def _accounts(parser: TrafficParser) -> Report:
    """Where each number of the file went, so that the parts add up to the whole."""
    aside = {"rows_moved": parser.moved, "total_rows": parser.totals, "other_tables": parser.other_tables}
    accounts: Report = {name: count for name, count in aside.items() if count}
    for name in parser.counted:
        parts = {where: sums[name] for where, sums in parser.sums.items()}
        accounts[name] = {"in_file": sum(parts.values()), **parts}
    accounts["rows_of"] = {where: parser.rows[where] for where in parser.sums}
    return accounts


# ----------------------------------------------------------------------------------------------------------- runs


def start_import(
    project: Project,
    upload: Upload,
    looked: Look,
    user: AbstractBaseUser | None,
    *,
    allow_shrink: bool = False,
    anyway: bool = False,
    period: str = "",
) -> Run:
    """Starts the import of an upload with the mapping the user confirmed, and remembers the mapping.

    Raises FileError where a required field has no column, or where it is known to be another (`anyway` imports it all
    the same), RunIsActive where such an import is under way.
    """
    if looked.objection and looked.known is not None and not anyway:
        raise KnownFileError(upload.name, looked.known, looked.objection)
    schema.check_required(upload.kind, upload.name, looked.header, looked.mapping)
    fields = [field.name for field in schema.FIELDS[upload.kind]]
    mapping = {field: looked.mapping.get(field, []) for field in fields}
    params = {"upload": upload.pk, "mapping": mapping, "encoding": upload.encoding}
    if upload.kind in schema.MARKS_MISSING:
        params["allow_shrink"] = allow_shrink
    if period:
        params["period"] = period
    with transaction.atomic():
        run = start_run(project, RUN_KINDS[upload.kind], params, user)
        Upload.objects.filter(pk=upload.pk).update(mapping=mapping)
        remember_mapping(project, upload.kind, looked)
    return run


def run_import(run: Run, progress: Progress) -> Report:
    """The work of an import run; its params are `upload`, `mapping`, `encoding`, `allow_shrink` or `period`."""
    upload = Upload.objects.get(pk=run.params["upload"], project=run.project)
    if not upload.is_there:
        raise FileError(upload.name, "The file is no longer there. Upload it again.")
    try:
        return _import(run, upload, progress)
    except UnusableFile:
        uploads.discard(upload)
        raise


def _import(run: Run, upload: Upload, progress: Progress) -> Report:
    options: dict[str, Any] = {
        "name": upload.name,
        "mapping": run.params.get("mapping"),
        "encoding": run.params.get("encoding", ""),
        "skipped_file": skipped_path(run.project_id, run.pk),
        "progress": progress,
    }
    if upload.kind == schema.QUERIES:
        return import_queries(run.project, upload.file, **options)
    if upload.kind == schema.TRAFFIC:
        return import_traffic(run.project, upload.file, period=run.params.get("period", ""), **options)
    work = import_pages if upload.kind == schema.PAGES else import_links
    return work(run.project, upload.file, allow_shrink=run.params.get("allow_shrink", False), **options)
