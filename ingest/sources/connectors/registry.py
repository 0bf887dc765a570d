"""The connectors there are. To add one, see CONTRIBUTING.md: its line goes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.sources.connectors.crawler.connector import Crawler
from ingest.sources.connectors.sitemap import Sitemap
from ingest.sources.connectors.wordpress.connector import WordPress
from linker.errors import UserError

if TYPE_CHECKING:
    from ingest.sources.connectors.base import Connector

CONNECTORS: tuple[Connector, ...] = (Crawler(), WordPress(), Sitemap())


def connectors() -> tuple[Connector, ...]:
    return CONNECTORS


def get(kind: str) -> Connector:
    """The connector of a kind of source. Raises UserError where there is none."""
    for connector in CONNECTORS:
        if connector.kind == kind:
            return connector
    raise UserError(f"Nothing here can fetch a source of the kind “{kind}”.")
