"""Zip archives in bounded memory."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol, cast

from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL_PIECE = 2**12  # packed bytes at once where the decoder does not bound what comes out of them
MAX_DIRECTORY = 2**20  # bytes of an archive's list of its files: some ten thousand
MAX_DICTIONARY_MB = 128  # memory that unpacking LZMA may ask for; the highest level of 7-Zip asks for 64
DAMAGE = (
    *(OSError, ValueError, OverflowError, RuntimeError, IndexError, MemoryError),
    *(struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)


class ArchiveError(UserError):
    """An archive whose parts would take too much to unpack."""


class ByteStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class RawFile(io.BufferedReader):
    """A file that is never read by a great piece: zipfile takes an archive's whole directory at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = MAX_DIRECTORY
        if size > MAX_DIRECTORY:
            raise zipfile.BadZipFile("its list of files is too long")
        return super().read(size)


class _Member:
    """A file of an archive, unpacked in small pieces: bzip2 and LZMA do not bound what comes out of a piece."""

    def __init__(self, member: IO[bytes]) -> None:
        self.member = member

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self.member.read(min(size, SMALL_PIECE))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip file, whose directory is not taken into the memory where it is too long. Raises as zipfile does."""
    with RawFile(path.open("rb", buffering=0)) as raw, zipfile.ZipFile(raw) as archive:
        yield archive


@contextmanager
def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[ByteStream]:
    """A file of an archive, unpacked in bounded memory. Raises as zipfile does, and ArchiveError."""
    if member.compress_type == zipfile.ZIP_LZMA:
        _check_dictionary(cast("IO[bytes]", archive.fp), member)
    with archive.open(member) as source:
        plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        yield source if plain else _Member(source)


def _check_dictionary(raw: IO[bytes], member: zipfile.ZipInfo) -> None:
    """LZMA reserves the memory its header asks for: after the member's own header and names come a version, the length
    of the properties, a byte of them and that size."""
    raw.seek(member.header_offset + 26)
    names = sum(struct.unpack("<HH", raw.read(4)))
    raw.seek(names, io.SEEK_CUR)
    [size] = struct.unpack("<5xI", raw.read(9))
    if size > MAX_DICTIONARY_MB * 2**20:
        raise ArchiveError(
            f"Unpacking the archive would take more than {MAX_DICTIONARY_MB} MB of memory. Pack it as an ordinary .zip "
            "or .gz."
        )
