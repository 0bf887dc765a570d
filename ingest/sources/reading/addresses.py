"""Addresses in a page to absolute ones, as browsers resolve them."""

from __future__ import annotations

import ada_url

from ingest.addresses.normalise import MAX_ADDRESS


class Resolver:
    """Resolves the addresses of one page against its own, or against that of its base element."""

    def __init__(self, url: str, base: str = "") -> None:
        self._base = _joined(url, base) or url if base else url
        self._known: dict[str, str] = {}

    def resolve(self, address: str) -> str:
        """The absolute address; empty for what is none of a page, such as `mailto:`, and for what is no address."""
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = _joined(self._base, address)
        return known


def _joined(base: str, address: str) -> str:
    address = address.strip()
    if len(address) > MAX_ADDRESS:
        return ""
    try:
        found = ada_url.join_url(base, address)
    except ValueError:
        return ""
    return found if found.startswith(("https://", "http://")) and len(found) <= MAX_ADDRESS else ""
