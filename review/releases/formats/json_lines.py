"""JSON lines: an object a link, with the columns of the CSV; numbers are numbers, and what is empty is null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from review.releases.formats.base import Format, collected, kept_rows
from review.releases.formats.cells import BOOLEANS, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from review.models import Release


class JsonLines(Format):
    name = "jsonl"
    label = _("JSON lines")
    help = _("an object a link")
    suffix = ".jsonl"
    content_type = "application/x-ndjson; charset=utf-8"
    needs_all = False

    def pieces(self, release: Release) -> Iterator[bytes]:
        return collected(f"{json.dumps(_object(row), ensure_ascii=False)}\n".encode() for row in kept_rows(release))


def _object(row: dict[str, str]) -> dict[str, Any]:
    return {name: _value(name, cell) for name, cell in row.items()}


def _value(name: str, cell: str) -> Any:
    if not cell:
        return None
    if name in BOOLEANS:
        return cell == "true"
    return float(cell) if name in NUMBERS and "." in cell else int(cell) if name in NUMBERS else cell
