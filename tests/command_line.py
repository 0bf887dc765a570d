"""`./manage.py` as a shell runs it, in the process of the test: starting another one takes two seconds of computing.

A test that calls it commits, since a command closes its connection when it ends: mark it with
`pytest.mark.django_db(transaction=True)`.
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import manage


def run_manage(*words: object) -> subprocess.CompletedProcess[str]:
    """What the command returned and wrote, as `subprocess.run` has it."""
    argv = ["manage.py", *map(str, words)]
    out, error = io.StringIO(), io.StringIO()
    status: int | str | None = 0
    with mock.patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(error):
        try:
            manage.main()
        except SystemExit as ended:
            status = ended.code or 0
    if isinstance(status, str):  # as Python itself does where a program exits with a sentence
        error.write(f"{status}\n")
        status = 1
    return subprocess.CompletedProcess(argv, status, out.getvalue(), error.getvalue())
