"""What the process that crawls is told by the connector, as JSON."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ingest.addresses.normalise import Site
from ingest.sources.connectors.crawler.options import Options
from ingest.sources.outgoing import Rules


@dataclass(frozen=True)
class Plan:
    """`store` and `previous` are paths of stores, `previous` empty where there is none; `parent` is the process without
    which the crawl ends; `cores` read pages at the end. `timeout`: seconds that an answer may take to its last byte;
    `pause`: those after a failure, doubled each time. `sitemap_only`: `address` is a sitemap, whose pages are fetched
    and no others."""

    store: str
    previous: str
    address: str
    base_url: str
    strip_slash: bool
    strip_www: bool
    allowed: tuple[str, ...]
    user_agent: str
    parent: int
    ca_file: str = ""
    cores: int = 1
    timeout: float = 30.0
    pause: float = 2.0
    sitemap_only: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Plan:
        return cls(**json.loads(text))

    @property
    def follows(self) -> bool:
        """Whether links lead to further pages."""
        return not self.sitemap_only and not self.choices.texts_only

    @property
    def adds(self) -> bool:
        """Whether redirects lead to further pages."""
        return not self.choices.texts_only

    @property
    def site(self) -> Site:
        return Site(self.base_url, strip_slash=self.strip_slash, strip_www=self.strip_www)

    @property
    def rules(self) -> Rules:
        return Rules(tuple(map(ipaddress.ip_network, self.allowed)), self.ca_file)

    @property
    def choices(self) -> Options:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in self.options.items()
        }
        return Options(**values)
