#!/usr/bin/env python
"""Command line of the project; `./manage.py help` lists its commands."""

import os
import select
import signal
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Runs the command. What is wrong with a server or the set-up ends it in one sentence; --traceback shows more.

    Where the output goes into a pipe that is read no further, as by `head`, it ends there without a word.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")
    try:
        execute_from_command_line(sys.argv)
        print(end="", flush=True)
    except Exception as error:
        if isinstance(error, BrokenPipeError) and output_is_closed():
            sys.exit(128 + signal.SIGPIPE)  # what a shell says of a tool that a closed pipe has ended
        from linker.operations.outages import explain  # after the settings, which it may be about

        trouble = explain(error)
        if trouble is None or "--traceback" in sys.argv:
            raise
        sys.exit(trouble.sentence)
    finally:
        drop_unread_output()


def output_is_closed() -> bool:
    """Whether nobody reads what is printed any more: other pipes break as well, and are no reason to be silent."""
    poll = select.poll()
    for output in (1, 2):
        poll.register(output, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def drop_unread_output() -> None:
    """Else Python writes it once more as it ends, and reports that it could not."""
    try:
        print(end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
