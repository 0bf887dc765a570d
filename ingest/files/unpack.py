"""Unpacking gzip and zip in bounded memory and linear time.

Bombs are refused while unpacking, see ingest.files.text. Whatever a decoder makes of damaged bytes ends as an
UnusableFile, in `unpacking`.
"""

from __future__ import annotations

import errno
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from django.utils.translation import gettext

from ingest.errors import UnusableFile
from linker.storage.archives import DAMAGE, ArchiveError, RawFile, open_member

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from linker.storage.archives import ByteStream

EMPTY_MEMBERS = 1_000  # gzip streams in succession that hold nothing

_MAGIC = (
    (b"%PDF", "a PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x89PNG", "an image"),
    (b"SQLite format 3", "an SQLite database"),
)
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")


@contextmanager
def unpacking(name: str, line: int | None = None) -> Iterator[None]:
    """The one place where what the decoders raise for damaged bytes becomes a message.

    gzip: EOFError, zlib.error. zip: BadZipFile, and by its members' methods zlib.error, lzma.LZMAError, OSError
    (bzip2), EOFError; NotImplementedError for methods unknown; RuntimeError for passwords; UnicodeDecodeError,
    struct.error, ValueError and OverflowError for a directory with impossible names, lengths and places; MemoryError.
    What the disk itself raises is raised on. `line` is named for a file that ends too soon alone: of other damage,
    in a piece of which nothing is unpacked or in an archive whose checksum is wrong, the line is unknown.
    """
    try:
        yield
    except UnusableFile:
        raise
    except ArchiveError as error:
        raise UnusableFile(name, str(error)) from None
    except EOFError:
        text = gettext("The packed file ends in the middle: the upload or the export was cut off. Make it again.")
        raise UnusableFile(name, text, line=line) from None
    except NotImplementedError:
        text = gettext(
            "The archive is packed by a method that cannot be read here. Pack it as an ordinary .zip or .gz."
        )
        raise UnusableFile(name, text) from None
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # EINVAL: a place before the start
            raise
        detail = f" ({str(error)[:200]})" if isinstance(error, zipfile.BadZipFile | zlib.error) and str(error) else ""
        text = gettext("The packed file is cut off or damaged%(detail)s. Pack it again.") % {"detail": detail}
        raise UnusableFile(name, text) from None


class _Gzip:
    """Unpacks gzip by zlib itself, whose time is linear whatever the headers say."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self.packed = b""
        self.stream: Any = None  # of the member begun
        self.empty = 0  # members in succession that held nothing
        self.held = False

    def read(self, size: int) -> bytes:
        """At most `size` bytes, fewer at the end only. Raises zlib.error, EOFError."""
        parts: list[bytes] = []
        while size > 0 and (self.packed or self._more()):
            if self.stream is None:
                self.packed = self.packed.lstrip(b"\0")  # padding
                if not self.packed:
                    continue
                self.stream, self.held = zlib.decompressobj(wbits=31), False
            part = self.stream.decompress(self.packed, size)
            self.packed = self.stream.unconsumed_tail
            size -= len(part)
            if part:
                parts.append(part)
                self.held = True
            if self.stream.eof:
                self._end_member()
        if not parts and self.stream is not None:
            raise EOFError
        return b"".join(parts)

    def _more(self) -> bool:
        self.packed = self.raw.read(2**14)
        return bool(self.packed)

    def _end_member(self) -> None:
        self.packed, self.stream = self.stream.unused_data, None
        self.empty = 0 if self.held else self.empty + 1
        if self.empty > EMPTY_MEMBERS:
            raise zlib.error("it is made of empty parts")


def _choose_member(archive: zipfile.ZipFile, name: str, preferred: Collection[str]) -> zipfile.ZipInfo:
    names = [info.filename for info in archive.infolist()]
    if "[Content_Types].xml" in names or "mimetype" in names:
        said = gettext("This is a spreadsheet (Excel or OpenDocument), not a CSV. Save it as CSV UTF-8.")
        raise UnusableFile(name, said)
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and "__MACOSX" not in info.filename
        and not info.filename.rpartition("/")[2].startswith(".")
        and info.filename.lower().endswith((".csv", ".tsv", ".txt"))
    ]
    if len(members) > 1:
        wanted = [info for info in members if info.filename.rpartition("/")[2].lower() in preferred]
        members = wanted if len(wanted) == 1 else members
    if not members:
        said = gettext("The archive holds no CSV file, only: %(files)s.")
        raise UnusableFile(name, said % {"files": _listed(names) or gettext("nothing")})
    if len(members) > 1:
        listed = _listed([info.filename for info in members])
        said = gettext("The archive holds several CSV files (%(files)s). Pack the one to import alone.")
        raise UnusableFile(name, said % {"files": listed})
    if members[0].flag_bits & 0x1:
        said = gettext("The archive is protected by a password. Unpack it and import the CSV itself.")
        raise UnusableFile(name, said)
    return members[0]


def _listed(names: Sequence[str]) -> str:
    """Names as an archive has them, which may be of any length and hold anything."""
    return ", ".join("".join(filter(str.isprintable, name))[:100] for name in names[:5])


@dataclass
class OpenedFile:
    raw: IO[bytes]
    source: ByteStream
    compression: str
    member: str


def open_file(stack: ExitStack, path: Path, name: str, preferred: Collection[str]) -> OpenedFile:
    raw = stack.enter_context(RawFile(path.open("rb", buffering=0)))
    magic = raw.read(16)
    raw.seek(0)
    check_magic(name, magic)
    if magic.startswith(GZIP):
        return OpenedFile(raw, _Gzip(raw), "gzip", "")
    if magic.startswith(ZIP):
        with unpacking(name):
            archive = stack.enter_context(zipfile.ZipFile(raw))
            member = _choose_member(archive, name, preferred)
            source = stack.enter_context(open_member(archive, member))
            return OpenedFile(raw, source, "zip", _listed([member.filename]))
    return OpenedFile(raw, raw, "", "")


def check_magic(name: str, head: bytes) -> None:
    for start, what in _MAGIC:
        if head.startswith(start):
            raise UnusableFile(name, f"This is {what}, not a CSV. Export the table as CSV, plain or in a .gz or .zip.")
