"""How numbers are put into words."""

from __future__ import annotations


def count(number: int, one: str, many: str = "") -> str:
    """Such as "1 page" and "1,200 pages"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def was(number: int) -> str:
    return "was" if number == 1 else "were"


def are(number: int) -> str:
    return "is" if number == 1 else "are"


def listed(parts: list[str]) -> str:
    """What follows a colon; empty where there is nothing to list."""
    return f": {', '.join(parts)}" if parts else ""
