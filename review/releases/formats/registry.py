"""The formats that a release can be had in, in the order of the menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from review.releases.formats.comma import Joil, Kept
from review.releases.formats.json_lines import JsonLines
from review.releases.formats.patch import HtmlPatch, MarkdownPatch
from review.releases.formats.related import RelatedBlocks
from review.releases.formats.workbook import Workbook

if TYPE_CHECKING:
    from review.models import Release
    from review.releases.formats.base import Format

FORMATS: tuple[Format, ...] = (
    Kept(),
    Workbook(),
    JsonLines(),
    Joil(),
    RelatedBlocks(),
    MarkdownPatch(),
    HtmlPatch(),
)


def by_name(name: str) -> Format | None:
    return next((one for one in FORMATS if one.name == name), None)


def formats_for(release: Release) -> list[Format]:
    return [one for one in FORMATS if one.is_for(release)]
