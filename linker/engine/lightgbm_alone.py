"""LightGBM without pandas and scikit-learn, which it imports to be able to take their data: that takes a second of each
process, and nothing here hands it any."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Absent(MetaPathFinder):
    """Finds nothing of some packages, for one thread."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names, self.thread = names, get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in self.names and get_ident() == self.thread:
            raise ModuleNotFoundError(f"{name} is not wanted here", name=name)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    absent = _Absent(names)
    sys.meta_path.insert(0, absent)
    try:
        yield
    finally:
        sys.meta_path.remove(absent)


if TYPE_CHECKING:
    import lightgbm
else:
    with _without("pandas", "sklearn"):
        import lightgbm

__all__ = ["lightgbm"]
