"""The life of uploaded files: onto the disk only where they are asked for, and off it again.

One rule. A file that cannot be used goes at once, and its row with it where no run speaks of it; one that another
encoding may help stays. One whose import was never started goes after UNUSED_DAYS. One whose import was started goes
UPLOAD_KEEP_DAYS after the last one ended, and its row stays, for the run. Files that the command line reads stay where
they are, and so do the lists of the rows that imports left out; a list that no run speaks of, because its worker was
killed, goes after a day.
"""

from __future__ import annotations

import errno
import re
import shutil
from contextlib import contextmanager
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.db.models import Q
from django.utils import timezone

from ingest.errors import FileError
from ingest.models import Upload
from linker.models import Run, RunStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from django.db.models import QuerySet
    from django.http import HttpRequest

log = structlog.get_logger(__name__)

BESIDE_THE_FILE = 2**20  # bytes for the other fields of the form
PIECE = 2**20
UNUSED_DAYS = 7
TAKES_FILES = ("import", "page_list_add", "sheet")  # names of the addresses that files are sent to
_UPLOADED = re.compile(r"[0-9a-f]{32}")
_LIST = re.compile(r"skipped-([0-9]{1,18})\.csv")
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
NO_ROOM_TEXT = (
    "The server has no room for the file: its disk is full. Ask the administrator to make room, then upload it again."
)


class ImportUploadHandler(TemporaryFileUploadHandler):
    """Takes files for TAKES_FILES, from people who are signed in; others are passed over unwritten.

    The body of a request is read by the CSRF check already, before any view or its access rules have a say. Raises
    RequestDataTooBig, which is answered with 400, where the body cannot hold a file within UPLOAD_MAX_MB. A file that
    finds no room on the disk is passed over too, and `request.upload_error` says why.
    """

    request: HttpRequest

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        if content_length > settings.UPLOAD_MAX_MB * 2**20 + BESIDE_THE_FILE:
            raise RequestDataTooBig(f"The upload is larger than {settings.UPLOAD_MAX_MB:,} MB (UPLOAD_MAX_MB).")

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        match = self.request.resolver_match
        user = getattr(self.request, "user", None)
        if match is None or match.url_name not in TAKES_FILES or user is None or not user.is_authenticated:
            raise SkipFile
        with self._room():
            super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        with self._room():
            super().receive_data_chunk(raw_data, start)
            self.file.flush()

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            log.warning("no room for an upload", error=str(error))
            self.request.upload_error = NO_ROOM_TEXT  # type: ignore[attr-defined]
            self.upload_interrupted()
            raise SkipFile from None


def copy(file: IO[bytes] | Any, name: str, target: Path) -> None:
    """Copies an uploaded file in constant memory. Raises FileError where the disk has no room for it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as written:
            shutil.copyfileobj(file, written, PIECE)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise FileError(name, NO_ROOM_TEXT) from None


# -------------------------------------------------------------------------------------------------------- going again


def discard(upload: Upload) -> None:
    """Removes an uploaded file, and its row where no run speaks of it. A file that the command line read stays."""
    if upload.is_ours:
        upload.file.unlink(missing_ok=True)
        log.info("an uploaded file was removed", upload=upload.pk, file=upload.name)
        Upload.objects.filter(pk=upload.pk).update(path="")
    if not _runs_of(upload).exists():
        upload.delete()


def clean() -> int:
    """Removes what has had its time, see above. Returns how many files that were. May run twice, and twice at once."""
    now = timezone.now()
    removed = 0
    for upload in Upload.objects.exclude(path="").filter(at__lt=now - timedelta(days=UNUSED_DAYS)).iterator():
        if upload.is_ours and _has_had_its_time(upload, now):
            discard(upload)
            removed += 1
    return removed + _remove_strays(now)


def _runs_of(upload: Upload) -> QuerySet[Run]:
    return Run.objects.filter(project=upload.project_id, params__upload=upload.pk)


def _has_had_its_time(upload: Upload, now: datetime) -> bool:
    ends = list(_runs_of(upload).values_list("finished_at", flat=True))
    kept_until = now - timedelta(days=settings.UPLOAD_KEEP_DAYS)
    return all(end is not None and end < kept_until for end in ends)


def _remove_strays(now: datetime) -> int:
    """Removes uploaded files without a row and lists that no run speaks of, which a process that was killed or a
    deleted project left behind."""
    known = set(Upload.objects.exclude(path="").values_list("path", flat=True))
    yesterday = (now - timedelta(days=1)).timestamp()
    old = [file for file in settings.UPLOAD_ROOT.glob("*/*") if file.stat().st_mtime < yesterday]
    strays = [file for file in old if _UPLOADED.fullmatch(file.name) and f"{file.parent.name}/{file.name}" not in known]
    strays += _half_lists(old)
    for file in strays:
        file.unlink(missing_ok=True)
        log.info("a file that nothing speaks of was removed", path=str(file))
    return len(strays)


def _half_lists(files: list[Path]) -> list[Path]:
    lists = {int(found[1]): file for file in files if (found := _LIST.fullmatch(file.name))}
    spoken_of = Q(report__skipped_file=True) | Q(status__in=[RunStatus.QUEUED, RunStatus.RUNNING])
    kept = set(Run.objects.filter(spoken_of, pk__in=lists).values_list("pk", flat=True))
    return [file for run, file in lists.items() if run not in kept]
