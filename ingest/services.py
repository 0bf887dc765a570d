"""Importing a file: look at it, read it, check it, load it. A report of counts comes back."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingest import loader, schema
from ingest.errors import FileError, ImportStopped
from ingest.links import IGNORED, LinkParser, PageIds
from ingest.models import Upload
from ingest.normalise import Site
from ingest.pages import PageParser
from ingest.queries import QueryParser
from ingest.readers import generic
from ingest.skipped import REASONS, Skipped
from ingest.sniff import CHUNK, Records, Table, inspect
from linker import store
from linker.models import Project, QuerySource, RunKind
from linker.models.project import UrlPolicy
from linker.runs import no_progress, start_run
from linker.services import mark_sensitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from django.contrib.auth.models import AbstractBaseUser
    from django.core.files.uploadedfile import UploadedFile

    from linker.models import Run
    from linker.runs import Progress

MAX_SAMPLE = 300  # characters of a value shown
SAMPLES = 50  # rows looked at for guesses
STAGE_ROWS = 20_000
SHRINK_FROM, SHRINK_TO = 20, 0.8
RUN_KINDS = {
    schema.PAGES: RunKind.IMPORT_PAGES,
    schema.LINKS: RunKind.IMPORT_LINKS,
    schema.QUERIES: RunKind.IMPORT_QUERIES,
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
    """Copies an uploaded file under UPLOAD_ROOT, in constant memory; an empty kind is found out.

    Raises FileError, and keeps nothing, where it is no file we can read.
    """
    name = file.name or "upload"
    path = f"{project.pk}/{uuid.uuid4().hex}"
    target = settings.UPLOAD_ROOT / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as copy:
        shutil.copyfileobj(file, copy, CHUNK)
    try:
        kind = kind or find_kind(target, name, encoding)
        look(project, kind, target, name, None, encoding)
    except FileError:
        target.unlink()
        raise
    return _upload(project, kind, name, path, target, user, encoding)


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
    """A file looked at: how it is read, which columns fill which fields, and its first rows."""

    kind: str
    table: Table
    mapping: schema.Columns
    samples: list[Sequence[str]]

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.format.header

    def values(self, columns: Sequence[str], most: int = 3) -> list[str]:
        """The first `most` values the columns hold, several columns' joined."""
        places = [self.header.index(column) for column in columns]
        joined = (" › ".join(row[i].strip() for i in places if row[i].strip()) for row in self.samples)
        return [value[:MAX_SAMPLE] for value, _ in zip(filter(None, joined), range(most), strict=False)]

    def cells(self, column: str) -> list[str]:
        """The first rows' cells of a column."""
        index = self.header.index(column)
        return [row[index].strip() for row in self.samples]

    @property
    def left_out(self) -> list[str]:
        """Columns that no field takes."""
        taken = {column for columns in self.mapping.values() for column in columns}
        return [column for column in self.header if column not in taken]

    @property
    def vector_columns(self) -> list[str]:
        """Columns whose cells look like embeddings."""
        return generic.vector_columns(self.header, self.samples)

    @property
    def notes(self) -> list[Note]:
        """What the user should know before confirming."""
        missing = schema.what_is_missing(self.kind, self.header, self.mapping)
        if missing:
            return [Note(missing, True)]
        if self.kind == schema.LINKS:
            return _link_notes(self)
        if self.kind == schema.QUERIES:
            return [_query_note(self)]
        return [_breadcrumb_note(self), *_vector_notes(self), *_crawl_notes(self)]

    @property
    def has_json_ld(self) -> bool:
        """Whether the breadcrumb's columns hold JSON-LD."""
        chosen = set(self.mapping.get("breadcrumb", []))
        return bool(chosen & set(generic.json_ld_columns(self.header, self.samples)))


def _breadcrumb_note(looked: Look) -> Note:
    if "breadcrumb" not in looked.mapping:
        return Note("Categories come from the folders of the addresses, for want of a breadcrumb: a weak source.", True)
    columns = looked.mapping["breadcrumb"]
    where = columns[0] if len(columns) == 1 else f"{columns[0]} and {len(columns) - 1} more"
    how = "JSON-LD in " if looked.has_json_ld else ""
    return Note(f"Categories come from the breadcrumb in {how}{where}.")


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


def _crawl_notes(looked: Look) -> list[Note]:
    if schema.TEXTS & set(looked.mapping):
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


def look(
    project: Project, kind: str, path: Path, name: str, mapping: Mapping[str, Sequence[str]] | None, encoding: str = ""
) -> Look:
    """Looks at the first rows of a file and settles its mapping, required fields or not. Raises FileError."""
    preferred = schema.PREFERRED[kind]
    found = inspect(path, name, known=schema.KNOWN[kind], preferred=preferred, encoding=encoding)
    table = Table(path, name, found, preferred)
    width = len(found.header)
    samples = [cells for _, (_, cells) in zip(range(SAMPLES), table, strict=False) if len(cells) == width]
    remembered = project.import_mappings.get(kind, {})
    resolved = schema.resolve(kind, name, found.header, samples, remembered, mapping or {})
    return Look(kind, table, resolved, samples)


def look_at_upload(project: Project, upload: Upload, mapping: Mapping[str, Sequence[str]] | None = None) -> Look:
    """Looks at an upload with a mapping, or with the one that was confirmed last. Raises FileError."""
    if not upload.file.is_file():
        raise FileError(upload.name, "The file is no longer there. Upload it again.")
    return look(project, upload.kind, upload.file, upload.name, mapping or upload.mapping, upload.encoding)


def find_kind(path: Path, name: str, encoding: str = "") -> str:
    """Whether a file holds pages, links or queries. Raises FileError."""
    known = set[str]().union(*schema.KNOWN.values())
    preferred = set[str]().union(*schema.PREFERRED.values())
    return schema.kind_of(inspect(path, name, known=known, preferred=preferred, encoding=encoding).header)


def remember_mapping(project: Project, kind: str, looked: Look) -> None:
    """Keeps for the project's next imports what the user chose otherwise than we would have guessed."""
    guessed = schema.guess(kind, looked.header, looked.samples)
    fields = [field.name for field in schema.FIELDS[kind]]
    changed = {
        field: looked.mapping.get(field, [])
        for field in fields
        if looked.mapping.get(field, []) != guessed.get(field, [])
    }
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        locked.import_mappings[kind] = changed
        locked.save(update_fields=["import_mappings"])


def _look_to_load(
    project: Project, kind: str, path: Path, name: str, mapping: Mapping[str, Sequence[str]] | None, encoding: str
) -> Look:
    looked = look(project, kind, path, name or path.name, mapping, encoding)
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
        self.project, self.looked, self.skipped, self.progress = project, looked, skipped, progress
        self.parser = PageParser(looked.header, looked.mapping, site_of(project), skipped, looked.has_json_ld)
        self.seen_at: datetime = timezone.now()
        # A file without titles adds numbers or vectors to pages; it is no crawl, so it makes and misses none.
        self.is_crawl = bool(schema.TEXTS & set(looked.mapping))
        self.rows = 0
        self._keys: list[np.ndarray] = []  # hashes of the pages' keys

    def read(self) -> Report:
        loader.create_page_stage()
        with store.Background() as background:
            for records in self.looked.table.chunks():
                self.rows += len(records)
                pages = self.parser.parse_all(records)
                self._keys.append(np.array(list(map(hash, pages.columns["canonical_url"])), dtype=np.int64))
                background.wait()
                if pages.vectors:
                    loader.stage_vectors(*zip(*pages.vectors, strict=True))
                loader.stage_pages(background, pages)
                self._read_so_far()
        if self._may_repeat():
            for line, url in loader.drop_duplicates():
                self.skipped.add(line, "duplicate", address=url)
        if not self.is_crawl:
            for line, url in loader.drop_unknown(self.project):
                self.skipped.add(line, "unknown_page", address=url)
        return {
            "file": self.looked.table.name,
            **self.looked.table.format.describe(),
            "rows": self.rows,
            **loader.count_staged(),
            "duplicates": self.skipped.counts["duplicate"],
            "not_pages": self.parser.not_pages,
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
        report["categories"] = loader.merge_categories(self.project, self.parser.trails)
        report["category_source"] = source
        self.progress(size - 1, size, "Saving pages")
        held = {"linker_project": [self.project.pk], "linker_category": loader.staged_categories()}
        with store.references_held(held):
            report |= loader.merge_pages(
                self.project,
                self.parser.filled,
                weak_category=source == "folders",
                strong_category=source != "folders",
                seen_at=self.seen_at,
            )
        report["missing"] = loader.mark_missing_pages(self.project, self.seen_at) if self.is_crawl else 0
        if "vector" in self.looked.mapping:
            report["vectors"] = self._save_vectors()
        report |= self._skipped_report()
        report["mapping"] = self.looked.mapping
        loader.drop_page_stage()
        loader.refresh_statistics("linker_page", "linker_pageembedding", "linker_category")
        self.progress(size - 1, size, "Marking sensitive suggestions")
        mark_sensitive(self.project)  # a page may have come into a sensitive category
        self.progress(size, size, "Done")

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


def shrinks(before: int, now: int) -> bool:
    """Whether a new import holds suspiciously fewer than what is there."""
    return before >= SHRINK_FROM and now < SHRINK_TO * before


@contextmanager
def _listing(path: Path | None) -> Iterator[Skipped]:
    """Rows left out; a FileError half-way carries what has been listed until then."""
    with Skipped(path) as skipped:
        try:
            yield skipped
        except FileError as error:
            error.report = _skipped_report(skipped) if skipped.counts else {}
            raise


def _skipped_report(skipped: Skipped) -> Report:
    return {
        "skipped": {REASONS[reason]: count for reason, count in skipped.counts.most_common()},
        "skipped_listed": skipped.listed,
        "skipped_file": bool(skipped.listed),
    }


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
    ids = loader.page_ids(project)
    if not ids:
        raise FileError(table.name, "The project has no pages yet. Import the pages first, then their links.")
    parser = LinkParser(looked.header, looked.mapping, PageIds(ids, site_of(project)), skipped)
    held = np.sort(np.fromiter(ids.values(), dtype=np.int64, count=len(ids)))
    with loader.LinkStage(project, seen_at, held, at_once=parser.says_position) as stage:
        rows = _stage(table, parser.parse_all, stage.add, progress)
        stage.wait()
        report: Report = {"file": table.name, **table.format.describe(), "rows": rows}
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
    progress(table.size, table.size, "Done")
    return report | _skipped_report(skipped) | {"mapping": looked.mapping}


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
    if report["rows"] and not report["links"]:
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
    ids = loader.page_ids(project)
    if not ids:
        raise FileError(table.name, "The project has no pages yet. Import the pages first, then their queries.")
    parser = QueryParser(looked.header, looked.mapping, PageIds(ids, site_of(project)), skipped)
    loader.create_query_stage()
    rows = _stage(table, parser.parse_all, loader.stage_queries, progress)
    staged = loader.count_staged_queries()
    report: Report = {"file": table.name, **table.format.describe(), "rows": rows}
    if not staged:
        text = _none_usable(project, table.name, skipped, "a query of a page") if rows else f"{table.name} has no rows."
        raise ImportStopped(text, report | _skipped_report(skipped))
    progress(table.size - 1, table.size, "Saving queries")
    loader.lock(project)
    source = QuerySource.JOIL if "importance" in looked.mapping else QuerySource.SEARCH_CONSOLE
    report |= {"query_source": source.value, **loader.merge_queries(source.value, parser.filled, seen_at)}
    report["rows_summed"] = staged - report["queries"]
    loader.drop_query_stage()
    loader.refresh_statistics("linker_pagequery")
    progress(table.size, table.size, "Done")
    return report | _skipped_report(skipped) | {"mapping": looked.mapping}


# ----------------------------------------------------------------------------------------------------------- runs


def start_import(
    project: Project,
    upload: Upload,
    looked: Look,
    user: AbstractBaseUser | None,
    *,
    allow_shrink: bool = False,
) -> Run:
    """Starts the import of an upload with the mapping the user confirmed, and remembers the mapping.

    Raises FileError where a required field has no column, RunIsActive where such an import is under way.
    """
    schema.check_required(upload.kind, upload.name, looked.header, looked.mapping)
    fields = [field.name for field in schema.FIELDS[upload.kind]]
    mapping = {field: looked.mapping.get(field, []) for field in fields}
    params = {"upload": upload.pk, "mapping": mapping, "encoding": upload.encoding}
    if upload.kind != schema.QUERIES:
        params["allow_shrink"] = allow_shrink
    with transaction.atomic():
        run = start_run(project, RUN_KINDS[upload.kind], params, user)
        Upload.objects.filter(pk=upload.pk).update(mapping=mapping)
        remember_mapping(project, upload.kind, looked)
    return run


def run_import(run: Run, progress: Progress) -> Report:
    """The work of an import run; its params are `upload`, `mapping`, `encoding`, `allow_shrink`."""
    upload = Upload.objects.get(pk=run.params["upload"], project=run.project)
    if not upload.file.is_file():
        raise FileError(upload.name, "The file is no longer there. Hand it in again.")
    options: dict[str, Any] = {
        "name": upload.name,
        "mapping": run.params.get("mapping"),
        "encoding": run.params.get("encoding", ""),
        "skipped_file": skipped_path(run.project_id, run.pk),
        "progress": progress,
    }
    if upload.kind == schema.QUERIES:
        return import_queries(run.project, upload.file, **options)
    work = import_pages if upload.kind == schema.PAGES else import_links
    return work(run.project, upload.file, allow_shrink=run.params.get("allow_shrink", False), **options)
