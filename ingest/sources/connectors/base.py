"""The interface of a connector: what fetches a site into a store.

A connector is a module or folder beside this file and a line in the registry. Forms, commands and jobs read what they
need from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ingest.sources import secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ingest.addresses.normalise import Site
    from ingest.models import SiteSource
    from ingest.sources.outgoing import Rules
    from ingest.sources.store import FetchStore
    from linker.runs.lifecycle import Progress


@dataclass(frozen=True)
class Fetching:
    """One fetch. `store` holds what an earlier try has fetched; `earlier` are the stores of the last fetches that
    ended, the newest first."""

    source: SiteSource
    site: Site
    store: FetchStore
    earlier: Sequence[Path]
    rules: Rules
    progress: Progress
    user_agent: str
    options: Any = None
    counts: dict[str, int] = field(default_factory=dict)  # what the report says, by keys of ingest.fetching.report

    @property
    def previous(self) -> Path | None:
        """The store of the last fetch that ended, for conditional requests; None where there is none."""
        return self.earlier[0] if self.earlier else None

    @property
    def secret(self) -> str:
        """The source's password or key; empty where it has none. Raises UserError where it cannot be read."""
        return secrets.decrypt(bytes(self.source.secret)) if self.source.secret else ""


class Connector(ABC):
    """`kind` is one of ingest.models.SourceKind. `Options` is a frozen dataclass whose fields have defaults; its
    `of(values)` raises UserError for values that mean nothing. `unused_options` are fields that change nothing for
    sources of this kind; no form offers them. `lists_all`: the source says which pages there are, and no other address
    is asked."""

    kind: ClassVar[str]
    may_have_secret: ClassVar[bool] = False
    unused_options: ClassVar[frozenset[str]] = frozenset()
    lists_all: ClassVar[bool] = False
    Options: ClassVar[Any]

    @abstractmethod
    def fetch(self, fetching: Fetching) -> None:
        """Fills the store, and notes `is_whole` in it where all of the site was seen.

        May be called again after its process was killed, and goes on. Raises UserError where the source cannot be
        read, RunCancelled where somebody stops it (through `progress`).
        """

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        """Asks the source once, for the person who enters it: what was found, in a sentence. Raises UserError."""
        rules.check_url(source.address)
        return ""
