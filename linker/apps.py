from typing import Any

from django.apps import AppConfig
from django.core.signals import request_finished
from django.utils import translation


class LinkerConfig(AppConfig):
    name = "linker"
    verbose_name = "Anchorline"

    def ready(self) -> None:
        from linker import checks  # noqa: F401  (registers them)

        request_finished.connect(forget_language, dispatch_uid="forget_language")


def forget_language(**kwargs: Any) -> None:
    """What a thread does after an answer is in nobody's language: a page of errors, a file, a line of a log."""
    translation.deactivate()
