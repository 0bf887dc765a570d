"""A process that ends with the one that started it, and that works on a store alone."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_SECONDS = 0.5
WAIT_SECONDS = 10.0


def end_with(parent: int | None) -> None:
    """Ends this process at once when its parent is gone; `parent` is who that was when it was started."""
    started_by = parent if parent is not None else os.getppid()

    def watch() -> None:
        while os.getppid() == started_by:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


@contextmanager
def alone(store: Path) -> Iterator[None]:
    """Holds a lock beside the store. Raises UserError where another process has it for long: one whose parent was
    killed ends a moment later."""
    with store.with_name(f"{store.name}-lock").open("w") as file:
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - began > WAIT_SECONDS:
                    raise UserError("Another process fetches this site just now. Wait until it has ended.") from None
                time.sleep(0.1)
        yield
