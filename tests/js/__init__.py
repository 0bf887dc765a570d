"""Units of static/js, run by the Node that Playwright's package brings: `python -m tests.js [FILES]`."""

from __future__ import annotations

from pathlib import Path

import playwright

NODE = Path(playwright.__file__).parent / "driver" / "node"
FOLDER = Path(__file__).parent


def command(*files: str) -> list[str]:
    """What runs the files, or all of them."""
    return [str(NODE), "--test", *(files or sorted(str(path) for path in FOLDER.glob("*.test.js")))]
