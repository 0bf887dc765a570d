"""Numbers, days, filters and links in the words of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.formats import date_format

from linker.models import Block, Category, PageList, TwinKind
from linker.models.linked import IN_BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from linker.engine.params import PageFilter
    from linker.models import ExistingLink, Project

TWIN: dict[str, str] = {
    TwinKind.COPY: "a near-copy",
    TwinKind.VARIANT: "a variant",
    TwinKind.TRANSLATION: "a translation",
}
TWINS: dict[str, str] = {
    TwinKind.COPY: "near-copies",
    TwinKind.VARIANT: "variants",
    TwinKind.TRANSLATION: "translations",
}


def new_links_text(count: int) -> str:
    return "1 new link" if count == 1 else f"{count} new links"


def links_text(count: int) -> str:
    return "1 link" if count == 1 else f"{count} links"


def score_text(value: float) -> str:
    """Three decimals, and four where these would show little: probabilities may be small."""
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.4f}"


def day_text(when: datetime) -> str:
    return date_format(timezone.localtime(when), "j M Y")


def places_text(links: Sequence[ExistingLink]) -> str:
    """In which of the donor's blocks links stand, with their anchors: "beside its text (“Tents”) and in its header"."""
    anchors: dict[str, list[str]] = {}
    for link in links:
        anchors.setdefault(str(IN_BLOCK[Block(link.block)]), []).extend([f"“{link.anchor}”"] if link.anchor else [])
    said = [f"{block} ({', '.join(words[:5])})" if words else block for block, words in anchors.items()]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def filter_text(project: Project, wanted: PageFilter, name: str) -> str:
    """Which pages a filter's field leaves, in words."""
    value = getattr(wanted, name)
    if name == "page_list":
        listed = PageList.objects.filter(project=project, pk=value).defer("pages").first()
        return f"the pages of the list {listed.name}" if listed is not None else "the pages of a deleted list"
    if name == "categories":
        paths = Category.objects.filter(project=project, pk__in=value).order_by("path")[:5]
        return f"pages of {', '.join(str(path) for path in paths)}"
    return {
        "url_pattern": f"addresses that match “{value}”",
        "indexable_only": "indexable pages",
        "min_clicks": f"pages with {value} clicks or more",
        "max_clicks": f"pages with {value} clicks at most",
        "min_inlinks": f"pages with {value} body links in or more",
        "max_inlinks": f"pages with {value} body links in at most",
    }[name]
