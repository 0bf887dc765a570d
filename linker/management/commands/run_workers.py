"""Workers for the queues."""

import os
import signal
import time
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from linker.operations.outages import require_migrations, wait_for_database
from linker.runs.workers import WorkerPool, work_forever


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # of the pages, which a worker has nothing to do with
    help = (
        "Runs workers until SIGTERM, SIGHUP or Ctrl-C, replaces those that die, and queues the work of runs again "
        "that nobody works on. Start it on as many machines as you like."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--workers", type=int, default=os.cpu_count() or 1, help="worker processes (default: one a core)"
        )
        parser.add_argument("--single", action="store_true", help="one worker in this process, without a watch")
        parser.add_argument("--until-stdin-ends", action="store_true", help="with --single: end with stdin too")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["single"]:
            wait_for_database()
            work_forever(until_stdin_ends=options["until_stdin_ends"])
            return
        stopping = []

        def stop(number: int, frame: FrameType | None) -> None:
            stopping.append(number)

        wait_for_database()  # this starts the embedded servers where there are no others
        require_migrations()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, stop)
        with WorkerPool(options["workers"]) as pool:
            while not stopping:
                pool.watch()
                time.sleep(0.2)
