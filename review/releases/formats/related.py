"""Links in the list at the end as a list of HTML a donor, to be put where the page shows related pages."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from linker.models import Placement
from review.models import Operation
from review.releases.formats.base import Format, collected, kept_rows, or_said
from review.releases.formats.markup import anchor_element

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from review.models import Release
    from review.releases.formats.base import Row


class RelatedBlocks(Format):
    name = "related"
    label = _("HTML, a related block a donor")
    help = _("links in the list at the end")
    suffix = "-related.html"
    content_type = "text/html; charset=utf-8"

    def pieces(self, release: Release) -> Iterator[bytes]:
        # Releases from before the column `stands` know lists alone.
        rows = (row for row in kept_rows(release) if row["placement"] == Placement.RELATED)
        beside = (row for row in rows if row.get("stands", "list") == "list")
        blocks = (_block(donor, rows).encode() for donor, rows in groupby(beside, lambda row: row["donor_url"]))
        return collected(or_said(blocks, f"<!-- Release {release.number} has no link in the list at the end. -->\n"))


def _block(donor: str, rows: Iterable[Row]) -> str:
    """The donor's address in a comment, what is to be changed or removed in comments as well, and the links to add."""
    lines, items = [f"<!-- {_in_comment(donor)} -->"], []
    for row in rows:
        element = anchor_element(row["acceptor_url"], row["anchor_text"], row["rel"])
        if row["operation"] == Operation.ADD:
            items.append(f"  <li>{element}</li>")
        else:
            lines.append(f"<!-- {row['operation']}: {_in_comment(element)} -->")
    if items:
        lines += ['<ul class="related-links">', *items, "</ul>"]
    return "\n".join(lines) + "\n\n"


def _in_comment(text: str) -> str:
    """The text without what would end a comment: an address is the same with the dash escaped."""
    return text.replace("--", "-%2D").replace("<", "&lt;").replace(">", "&gt;") if "--" in text else escape(text, False)
