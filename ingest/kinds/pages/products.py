"""What is particular to a shop's file of products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ingest.addresses.normalise import clean_name
from ingest.files.column_names import header_key
from ingest.formats import shopify
from ingest.kinds.pages.breadcrumbs import ONE_CELL_PATH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.pages.breadcrumbs import CrumbRow
    from ingest.kinds.pages.category_paths import PathOfNames


class Products:
    """A shop's product file has several rows a product, and its own ways to say what is live."""

    def __init__(self, at: dict[str, int], is_tags: bool) -> None:
        self.at, self.is_tags = at, is_tags
        self._seen: set[str] = set()

    @classmethod
    def of(cls, header: Sequence[str], mapping: Columns) -> Self | None:
        """None where the file is none of products, or its address comes from another column than the handle."""
        if not shopify.is_products(header) or mapping["url"] != [shopify.column(header, "url")]:
            return None
        columns = {field: shopify.column(header, field) for field in shopify.NAMES}
        at = {field: header.index(column) for field, column in columns.items() if column is not None}
        return cls(at, [header_key(column) for column in mapping.get("breadcrumb", [])] == ["tags"])

    def are_first(self, cells: Sequence[Sequence[str]]) -> list[bool]:
        """Which rows begin a product: the first with its handle that has a title."""
        first = []
        for handle, title in zip(cells[self.at["url"]], cells[self.at["title"]], strict=True):
            begins = bool(title.strip()) and handle not in self._seen
            if begins:
                self._seen.add(handle)
            first.append(begins)
        return first

    def why_hidden(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """Why each product cannot be found; empty where it can."""
        nothing = [""] * len(cells[0])
        status, published = (
            cells[self.at[field]] if field in self.at else nothing for field in ("indexability_status", "indexability")
        )
        return list(map(shopify.why_hidden, status, published))

    def path_of(self, row: CrumbRow) -> PathOfNames:
        """The category in a product's type, its taxonomy or its first tag: never the product itself."""
        cell = shopify.category(row.crumbs[0])
        names = [shopify.first_tag(cell)] if self.is_tags else ONE_CELL_PATH.split(cell)
        return tuple(name for text in names if (name := clean_name(text)))
