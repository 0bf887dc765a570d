"""Memory that Python has freed, returned to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def trim_malloc() -> None:
    """Returns freed memory between two phases of a run: glibc would keep what lies between blocks still in use.

    With another C library nothing happens.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
