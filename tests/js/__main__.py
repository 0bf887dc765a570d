from __future__ import annotations

import subprocess
import sys

from tests.js import command

sys.exit(subprocess.run(command(*sys.argv[1:])).returncode)
