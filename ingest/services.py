"""Importing: hand in a file, look at it, import its rows. Rows of other sources are imported the same way."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from ingest.errors import FileError, ImportStopped, NotDecodable, UnusableFile
from ingest.fields.skipped import listing
from ingest.files import uploads
from ingest.formats.known_file import KnownFileError
from ingest.kinds import registry
from ingest.kinds.base import ImportTask
from ingest.models import Upload
from ingest.preview import FilePreview, check_loadable, preview, preview_file
from ingest.remembered import chosen_before, columns_digest
from ingest.sources import registry as sources
from ingest.sources.file import recognise_columns
from linker.errors import UserError
from linker.models import Project, Run, RunStatus
from linker.runs.lifecycle import no_progress, start_run
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.contrib.auth.models import AbstractBaseUser
    from django.core.files.uploadedfile import UploadedFile

    from ingest.import_report import ImportReport
    from ingest.kinds.base import Counts, ImportKind
    from ingest.sources.base import Source
    from linker.runs.lifecycle import Progress


READING = ("encoding", "delimiter", "no_header")  # how the user says that a file is to be read


def take_upload(
    project: Project, user: AbstractBaseUser | None, *, file: UploadedFile, kind: str = "", encoding: str = ""
) -> Upload:
    """Copies an uploaded file under UPLOAD_ROOT, in constant memory. An empty kind is found out, and a kind that users
    choose by mistake is corrected.

    A file in another encoding is kept, of the wanted kind or of none: looking at it says so, and the encoding can be
    chosen then. Whatever this raises, it keeps nothing: FileError where it is no file we can read, or where there is no
    room for it.
    """
    name = file.name or "upload"
    path = f"{project.pk}/{uuid.uuid4().hex}"
    target = settings.UPLOAD_ROOT / path
    try:
        uploads.copy(file, name, target)
        try:
            chosen = _settled_kind(target, name, kind, encoding)
            preview_file(project, chosen, target, name, None, encoding)
        except NotDecodable:
            chosen = kind
        return _upload(project, chosen, name, path, target, user, encoding=encoding)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def register_file(
    project: Project, kind: str, file: Path, user: AbstractBaseUser | None = None, **reading: Any
) -> Upload:
    """An Upload of a file that stays where it is; `reading` are some of READING. Raises FileError where it cannot be
    read."""
    if not file.is_file():
        raise FileError(str(file), gettext("There is no such file."))
    return _upload(project, kind, file.name, str(file.resolve()), file, user, **reading)


def find_kind(path: Path, name: str, encoding: str = "") -> str:
    """The kind of import that a file is for. Raises FileError."""
    known, header = recognise_columns(
        path,
        name,
        known_columns=registry.known_columns(),
        preferred=registry.preferred_files(),
        encoding=encoding,
    )
    return known if registry.find(known) else registry.kind_of(header).name


def _settled_kind(path: Path, name: str, wanted: str, encoding: str) -> str:
    """The kind that the user wants, or the one that the file shows where that is empty or a common mistake."""
    if wanted and not any(wanted in kind.corrects for kind in registry.kinds()):
        return wanted
    found = find_kind(path, name, encoding)
    return found if not wanted or wanted in registry.get(found).corrects else wanted


def _upload(
    project: Project, kind: str, name: str, path: str, file: Path, user: AbstractBaseUser | None, **reading: Any
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
        uploaded_by_id=user.pk if user is not None else None,
        **reading,
    )


def look_at_upload(
    project: Project,
    upload: Upload,
    mapping: Mapping[str, Sequence[str]] | None = None,
    options: Mapping[str, Any] | None = None,
) -> FilePreview:
    """Looks at an upload with a mapping, or with the one that was confirmed last, and options as a user writes them.

    Raises FileError; a file that turns out to be unusable is removed.
    """
    _check_is_there(upload)
    try:
        if not upload.kind:  # its encoding was not known until now
            upload.kind = _settled_kind(upload.file, upload.name, "", upload.encoding)
        registry.get(upload.kind).check_options(upload.name, options or {})
        chosen = mapping or upload.mapping
        return preview_file(project, upload.kind, upload.file, upload.name, chosen, options=options, **upload.reading)
    except (UnusableFile, KnownFileError) as error:
        _discard(upload, error)
        raise


def _discard(upload: Upload, error: FileError) -> None:
    """Removes a file that cannot be used, unless it may be read in another encoding, or it is the user's own word for
    how to read it that may be wrong."""
    if not (isinstance(error, NotDecodable) or upload.encoding or upload.delimiter or upload.no_header):
        uploads.discard(upload)


def change_reading(project: Project, upload: Upload, *, encoding: str, delimiter: str, no_header: bool) -> None:
    """Reads an upload in another encoding or with another delimiter (empty to find them out), or with or without a
    header; its columns are yet to be chosen. Raises FileError, and changes nothing, where the file cannot be read
    so."""
    _check_is_there(upload)
    kind = upload.kind or _settled_kind(upload.file, upload.name, "", encoding)
    preview_file(project, kind, upload.file, upload.name, None, encoding, delimiter=delimiter, no_header=no_header)
    Upload.objects.filter(pk=upload.pk).update(
        mapping={}, kind=kind, encoding=encoding, delimiter=delimiter, no_header=no_header
    )


def change_kind(upload: Upload, kind: str) -> None:
    """Reads an upload as another kind, with columns yet to be chosen. Raises FileError where there is no such kind."""
    if registry.find(kind) is None:
        raise FileError(upload.name, gettext("There is no import of “%(kind)s”.") % {"kind": kind})
    Upload.objects.filter(pk=upload.pk).update(kind=kind, mapping={})


def remember_mapping(project: Project, looked: FilePreview, upload: Upload | None = None) -> None:
    """Keeps for the project's next imports what the user chose otherwise than we would have guessed. Of a file without
    a header nothing is kept, because its columns have no names that another file could share. A file of the same
    columns as `upload` gets its mapping whole, and another what is remembered for all."""
    if looked.source.has_no_names:
        return
    guessed = looked.kind.guess(looked.header, looked.samples)
    changed = {
        field: looked.mapping.get(field, [])
        for field in looked.kind.fields.names
        if looked.mapping.get(field, []) != guessed.get(field, [])
    }
    if "prefix" in changed:
        changed["url"] = looked.mapping.get("url", [])
    if upload is not None and (changed or chosen_before(project, looked.kind, looked.header) is not None):
        Upload.objects.filter(pk=upload.pk).update(columns=columns_digest(looked.header))
    with transaction.atomic():
        locked = lock_project(project.pk)
        locked.import_mappings[looked.kind.name] = changed
        locked.save(update_fields=["import_mappings"])


def _check_is_there(upload: Upload) -> None:
    if not upload.is_there:
        raise FileError(upload.name, gettext("The file is no longer there. Upload it again."))


def import_file(
    project: Project,
    kind: str,
    path: Path,
    *,
    name: str = "",
    mapping: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "",
    delimiter: str = "",
    no_header: bool = False,
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
    run: Run | None = None,
    **options: Any,
) -> Counts:
    """Reads a file and loads it, all or nothing. Returns the report. `options` are those of the kind.

    Raises FileError for a file that cannot be read, ImportStopped (with the report so far) where its rows must not be
    loaded: none of them can be used, or they are far fewer than the project has.
    """
    found = preview_file(
        project, kind, path, name or path.name, mapping, encoding, options, delimiter=delimiter, no_header=no_header
    )
    return _import(found, mapping, skipped_file, progress, run)


def import_rows(
    project: Project,
    kind: str,
    source: Source,
    *,
    mapping: Mapping[str, Sequence[str]] | None = None,
    skipped_file: Path | None = None,
    progress: Progress = no_progress,
    run: Run | None = None,
    **options: Any,
) -> Counts:
    """Reads the rows of any source and loads them, as import_file does those of a file."""
    found = preview(project, registry.get(kind), source, mapping, options)
    return _import(found, mapping, skipped_file, progress, run)


def _import(
    found: FilePreview,
    wanted: Mapping[str, Sequence[str]] | None,
    skipped_file: Path | None,
    progress: Progress,
    run: Run | None,
) -> Counts:
    check_loadable(found, wanted)
    found.kind.check_options(found.source.name, found.options)
    with listing(skipped_file) as skipped, transaction.atomic():
        return found.kind.load(ImportTask(found, skipped, progress, run=run))


def start_import(
    project: Project,
    upload: Upload,
    looked: FilePreview,
    user: AbstractBaseUser | None,
    *,
    anyway: bool = False,
    **options: Any,
) -> Run:
    """Starts the import of an upload with the mapping the user confirmed, and remembers the mapping.

    Raises FileError where a required field has no column, where the pages have to be imported first, or where it is
    known to be another (`anyway` imports it all the same), RunIsActive where such an import is under way.
    """
    if looked.objection and looked.known is not None and not anyway:
        raise KnownFileError(upload.name, looked.known, looked.objection)
    registry.check_required(looked.kind, upload.name, looked.header, looked.mapping)
    if looked.without_pages:
        raise FileError(upload.name, looked.without_pages)
    mapping = {field: looked.mapping.get(field, []) for field in looked.kind.fields.names}
    params = {"upload": upload.pk, "mapping": mapping, **upload.reading}
    with transaction.atomic():
        run = start_run(project, looked.kind.run_kind, params | looked.kind.chosen_options(options), user)
        Upload.objects.filter(pk=upload.pk).update(mapping=mapping)
        remember_mapping(project, looked, upload)
    return run


def start_source_import(
    project: Project,
    kind: str,
    source: str,
    where: str,
    user: AbstractBaseUser | None,
    *,
    mapping: Mapping[str, Sequence[str]] | None = None,
    follows: Run | None = None,
    to_queue: bool = True,
    **options: Any,
) -> Run:
    """Starts the import of a source that is no file; `follows` is the run that it is a step of. Raises RunIsActive
    where such an import is under way."""
    chosen = registry.get(kind)
    params = {"source": source, "where": where, "mapping": mapping} | chosen.chosen_options(options)
    return start_run(project, chosen.run_kind, params, user, follows=follows, to_queue=to_queue)


def import_again(run: Run, user: AbstractBaseUser | None) -> Run:
    """Starts an import that failed again, with the parameters that it had. Raises UserError where its file is gone, or
    a later import has succeeded."""
    later = Run.objects.filter(project=run.project_id, kind=run.kind, status=RunStatus.SUCCEEDED, pk__gt=run.pk).first()
    if later is not None:
        said = gettext("Run %(later)d has imported the same since, and what run %(run)d would import may be older.")
        raise UserError(said % {"later": later.pk, "run": run.pk})
    if "source" in run.params:
        sources.get(run.params["source"]).open(run.project, registry.of_run(run.kind).name, run.params["where"])
    else:
        upload = Upload.objects.filter(pk=run.params["upload"], project=run.project_id).first()
        if upload is None:
            raise UserError(gettext("The file is no longer there. Upload it again."))
        _check_is_there(upload)
    return start_run(run.project, run.kind, run.params, user, follows=run.follows)


def run_import(run: Run, progress: Progress) -> ImportReport:
    """The work of an import run. Its params are `upload`, `mapping` and how it is read (READING), or `source`, `where`
    and `mapping`; and the options of its kind."""
    kind = registry.of_run(run.kind)
    try:
        return kind.report.type.from_json(_run_import(run, kind, progress))
    except (FileError, ImportStopped) as error:
        error.report = kind.report.type.from_json(error.report).to_json() if error.report else {}
        raise


def _run_import(run: Run, kind: ImportKind, progress: Progress) -> Counts:
    options = {option.name: run.params[option.name] for option in kind.options if option.name in run.params}
    options |= {"mapping": run.params.get("mapping"), "progress": progress, "run": run}
    options["skipped_file"] = skipped_path(run.project_id, run.pk)
    if "source" in run.params:
        source = sources.get(run.params["source"]).open(run.project, kind.name, run.params["where"])
        return import_rows(run.project, kind.name, source, **options)
    upload = Upload.objects.get(pk=run.params["upload"], project=run.project)
    _check_is_there(upload)
    options |= {"name": upload.name, **{name: run.params[name] for name in READING if name in run.params}}
    try:
        return import_file(run.project, kind.name, upload.file, **options)
    except UnusableFile as error:
        _discard(upload, error)
        raise


def skipped_path(project_id: int, run_id: int) -> Path:
    """Where a run lists the rows it left out."""
    return settings.UPLOAD_ROOT / str(project_id) / f"skipped-{run_id}.csv"
