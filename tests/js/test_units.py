"""The scripts do what their units say."""

from __future__ import annotations

import subprocess

from tests.js import command


def test_the_units_of_the_scripts_pass():
    ran = subprocess.run(command(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
