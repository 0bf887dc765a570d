"""Numbers, days, filters and links in the words of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from linker.models import Block, Category, PageList, TwinKind
from linker.models.linked import IN_BLOCK
from linker.wording import decimal, joined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from linker.engine.params import PageFilter
    from linker.models import ExistingLink, Project

TWIN: dict[str, str] = {
    TwinKind.COPY: gettext_noop("a near-copy"),
    TwinKind.VARIANT: gettext_noop("a variant"),
    TwinKind.TRANSLATION: gettext_noop("a translation"),
}


def new_links_text(count: int) -> str:
    return ngettext("%(links)d new link", "%(links)d new links", count) % {"links": count}


def links_text(count: int) -> str:
    return ngettext("%(links)d link", "%(links)d links", count) % {"links": count}


def score_text(value: float) -> str:
    """Three decimals, and four where these would show little: probabilities may be small."""
    return decimal(value, 3 if abs(value) >= 0.01 else 4)


def day_text(when: datetime) -> str:
    return date_format(timezone.localtime(when), _("j M Y"))


def places_text(links: Sequence[ExistingLink]) -> str:
    """In which of the donor's blocks links stand, with their anchors: "beside its text (“Tents”) and in its header"."""
    anchors: dict[str, list[str]] = {}
    for link in links:
        anchors.setdefault(str(IN_BLOCK[Block(link.block)]), []).extend([quoted(link.anchor)] if link.anchor else [])
    return joined([f"{block} ({', '.join(words[:5])})" if words else block for block, words in anchors.items()])


def filter_text(project: Project, wanted: PageFilter, name: str) -> str:
    """Which pages a filter's field leaves, in words."""
    value = getattr(wanted, name)
    if name == "page_list":
        listed = PageList.objects.filter(project=project, pk=value).defer("pages").first()
        return (
            _("the pages of the list %(list)s") % {"list": listed.name} if listed else _("the pages of a deleted list")
        )
    if name == "categories":
        paths = Category.objects.filter(project=project, pk__in=value).order_by("path")[:5]
        return _("pages of %(categories)s") % {"categories": ", ".join(str(path) for path in paths)}
    return {
        "url_pattern": _("addresses that match “%(value)s”"),
        "indexable_only": _("indexable pages"),
        "min_clicks": _("pages with %(value)s clicks or more"),
        "max_clicks": _("pages with %(value)s clicks at most"),
        "min_inlinks": _("pages with %(value)s body links in or more"),
        "max_inlinks": _("pages with %(value)s body links in at most"),
    }[name] % {"value": value}


def quoted(text: str) -> str:
    return _("“%(label)s”") % {"label": text}
