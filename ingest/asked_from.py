"""Where an import was asked for: in the browser, or by a command. What a message tells the user to do depends on it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_by_command: ContextVar[bool] = ContextVar("by_command", default=False)


@contextmanager
def the_command_line() -> Iterator[None]:
    """Within this, messages name options; outside of it, the fields of a page."""
    token = _by_command.set(True)
    try:
        yield
    finally:
        _by_command.reset(token)


def is_command_line() -> bool:
    return _by_command.get()
