"""Shopify's product export, in the form it had for years and in the one its templates have now.

A product has a row for each of its variants and pictures; the first of them carries the title, the others repeat the
handle and leave most cells empty. The file has no addresses: a product's is /products/ and its handle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.files.column_names import header_key

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "/products/"
NAMES = {
    "url": ("Handle", "URL handle"),
    "title": ("Title",),
    "description": ("SEO Description",),
    "body": ("Body (HTML)", "Body HTML", "Description"),
    "indexability": ("Published", "Published on online store"),
    "indexability_status": ("Status",),
}
# A path in Shopify's own taxonomy, a word of the shop's, words for filters: the first that most products have.
CATEGORY_NAMES = ("Product Category", "Type", "Custom Product Type", "Tags")
_PRODUCT = frozenset(
    {"body html", "option1 name", "option1 value", "variant sku", "variant price", "published on online store"}
)
_NO_CATEGORY = frozenset({"", "uncategorized"})
_LIVE = frozenset({"", "active"})


def is_products(header: Sequence[str]) -> bool:
    keys = {header_key(column) for column in header}
    return bool(keys & {"handle", "url handle"}) and "title" in keys and len(keys & _PRODUCT) > 1


def column(header: Sequence[str], field: str) -> str | None:
    """The column that fills a field of NAMES."""
    by_key = {header_key(name): name for name in reversed(header)}
    return next((by_key[key] for name in NAMES[field] if (key := header_key(name)) in by_key), None)


def guess(header: Sequence[str], samples: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The mapping of a product file."""
    mapping = {field: [found] for field in NAMES if (found := column(header, field)) is not None}
    category = _category_column(header, samples)
    return mapping | {"prefix": [PREFIX]} | ({"breadcrumb": [category]} if category else {})


def _category_column(header: Sequence[str], samples: Sequence[Sequence[str]]) -> str | None:
    by_key = {header_key(name): place for place, name in reversed(list(enumerate(header)))}
    title = column(header, "title")
    products = [row for row in samples if title is not None and row[header.index(title)].strip()]
    places = [by_key[key] for name in CATEGORY_NAMES if (key := header_key(name)) in by_key]
    filled = [sum(category(row[place]) != "" for row in products) for place in places]
    for place, count in zip(places, filled, strict=True):
        if count * 2 > len(products):
            return header[place]
    return header[places[filled.index(max(filled))]] if any(filled) else None


def category(cell: str) -> str:
    """A cell of CATEGORY_NAMES; empty where it names none."""
    text = cell.strip()
    return "" if text.casefold() in _NO_CATEGORY else text


def first_tag(cell: str) -> str:
    return cell.partition(",")[0].strip()


def why_hidden(status: str, published: str) -> str:
    """Why a product has no page that can be found: a draft, archived, unlisted, unpublished; empty where it has one."""
    status = status.strip()
    if status.casefold() not in _LIVE:
        return status.capitalize()
    return "Unpublished" if published.strip().casefold() in ("false", "no", "0") else ""
