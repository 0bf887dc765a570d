"""What the tests of a module have in common is made once, and each test begins with it as it was made.

A fixture of the module writes within `kept`; the tests, each in a transaction of its own within that one, see it. None
of them may commit (django_db(transaction=True)).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker


@contextmanager
def kept(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keeps what the block writes until it is left. `blocker`: the fixture django_db_blocker. The fixture that opens
    the block asks for django_db_setup, too."""
    with blocker.unblock():
        atomic = transaction.atomic()
        atomic._from_testcase = True  # so that code which insists on a transaction of its own runs within it
        with atomic:
            yield
            transaction.set_rollback(True)
