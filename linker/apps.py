from typing import Any

from django.apps import AppConfig
from django.core.signals import request_finished
from django.db.backends.signals import connection_created
from django.utils import translation


class LinkerConfig(AppConfig):
    name = "linker"
    verbose_name = "Anchorline"

    def ready(self) -> None:
        from linker import checks  # noqa: F401  (registers them)
        from linker.operations import limits

        request_finished.connect(forget_language, dispatch_uid="forget_language")
        connection_created.connect(limits.limit_new_connection, dispatch_uid="limit_new_connection")


def forget_language(**kwargs: Any) -> None:
    """What a thread does after an answer is in nobody's language: a page of errors, a file, a line of a log."""
    translation.deactivate()
