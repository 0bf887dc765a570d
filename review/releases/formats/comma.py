"""CSV: the file that is kept, and its three columns of JOIL."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from linker.storage.cells import safe_cell
from review.models import Operation, ReleaseFormat
from review.releases.create import release_pieces
from review.releases.formats.base import Format, collected, kept_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from review.models import Release

JOIL = ("donor_url", "anchor_text", "acceptor_url")


class Kept(Format):
    name = "csv"
    label = _("CSV")
    help = _("the file that is kept, byte for byte")
    suffix = ".csv"
    content_type = "text/csv; charset=utf-8"
    needs_all = False

    def pieces(self, release: Release) -> Iterator[bytes]:
        return release_pieces(release)


class Joil(Format):
    name = "joil"
    label = _("JOIL, three columns")
    help = _("links that are added, without rel")
    suffix = "-joil.csv"
    content_type = "text/csv; charset=utf-8"
    needs_all = False

    def pieces(self, release: Release) -> Iterator[bytes]:
        is_such_a_file = release.format == ReleaseFormat.JOIL
        return release_pieces(release) if is_such_a_file else collected(self._lines(release))

    def _lines(self, release: Release) -> Iterator[bytes]:
        yield _line(JOIL)
        for row in kept_rows(release):
            if row["operation"] == Operation.ADD:
                yield _line([safe_cell(row[name]) for name in JOIL])


def _line(cells: tuple[str, ...] | list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()
