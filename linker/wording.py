"""How numbers are put into words."""

from __future__ import annotations


def count(number: int, one: str, many: str = "") -> str:
    """Such as "1 page" and "1,200 pages"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
