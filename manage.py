#!/usr/bin/env python
"""Command line of the project; `./manage.py help` lists its commands."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Runs the command. What is wrong with a server or the set-up ends it in one sentence; --traceback shows more."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        from linker.operations.outages import explain  # after the settings, which it may be about

        trouble = explain(error)
        if trouble is None or "--traceback" in sys.argv:
            raise
        sys.exit(trouble.sentence)


if __name__ == "__main__":
    main()
