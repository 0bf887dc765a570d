"""Says which code is at work."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from linker.operations.version import code_version


class Command(BaseCommand):
    help = "Prints the version and the revision that runs and changes are marked with."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(code_version())
