"""Takes the screenshots of the docs anew, from a demo of the sample site: `make screenshots`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.chromium import FLAGS, system_chromium

ROOT = Path(__file__).resolve().parent.parent
PORT = 8765
ADDRESS = f"http://127.0.0.1:{PORT}"
WITHIN = 600  # seconds for the demo to import, embed and match


def main() -> None:
    with tempfile.TemporaryDirectory() as var:
        command = [sys.executable, "manage.py", "demo", "--port", str(PORT)]
        demo = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "ANCHORLINE_VAR": var})
        try:
            _wait(demo)
            _take()
        finally:
            demo.send_signal(signal.SIGINT)
            demo.wait()


def _wait(demo: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + WITHIN
    while time.monotonic() < end and demo.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
        except ConnectionRefusedError:
            time.sleep(1)
        else:
            return
    raise SystemExit("The demo did not start; see what it printed above.")


def _take() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        page.goto(f"{ADDRESS}/login/")
        page.get_by_label("Username").fill("demo")
        page.get_by_label("Password").fill("demo-anchorline")
        page.get_by_label("Password").press("Enter")
        page.wait_for_url(f"{ADDRESS}/")
        _queue(page)
        browser.close()


def _queue(page: Page) -> None:
    """A card with its words in the text, after some decisions."""
    page.goto(f"{ADDRESS}/p/fernpeak/queue/?placement=inline")
    page.locator(".edge.is-current").wait_for()
    page.wait_for_load_state("networkidle")
    for key in ("a", "a", "x", "1", "a"):
        page.keyboard.press(key)
    page.locator("[data-recent] > li").nth(3).wait_for()
    page.get_by_text("All saved").wait_for()
    page.screenshot(path=ROOT / "docs" / "img" / "queue.png")


if __name__ == "__main__":
    main()
