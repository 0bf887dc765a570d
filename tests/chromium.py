"""The browser of the tests: a system Chromium if there is one, else Debian's package, else Playwright's own download.

`python -m tests.chromium` (part of `make test`) gets one where there is none, or says why it cannot.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from playwright.sync_api import Error, sync_playwright

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# The address bar of each window would load two pages of its own, which takes longer than a test does. The flag stands
# in place of Playwright's own, which switches the others off.
OFF = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")
OFF += ("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "PaintHolding")
OFF += ("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "ThirdPartyStoragePartitioning")
OFF += ("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", f"--disable-features={','.join(OFF)}"]


def system_chromium() -> str | None:
    """The path of an installed browser that starts; None leaves it to Playwright's own.

    Ubuntu puts a placeholder that only asks for a snap where the browser would be: hence the version.
    """
    for name in NAMES:
        if _succeeds(name, "--version"):
            return shutil.which(name)
    return None


def failure() -> str:
    """Why the browser does not start; empty where it does."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS).close()
    except Error as error:
        return str(error)
    return ""


def _succeeds(*command: str) -> bool:
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0


def _as_root() -> list[str] | None:
    """What a command begins with to run as root without a question; None where it cannot."""
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if _succeeds("sudo", "-n", "true") else None


def _install_package() -> None:
    root = _as_root()
    if root is None or shutil.which("apt-get") is None:
        return
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run([*root, "apt-get", "-q", *arguments], check=False)


def _download() -> None:
    libraries = ["--with-deps"] if os.geteuid() == 0 and shutil.which("apt-get") else []
    subprocess.run([sys.executable, "-m", "playwright", "install", *libraries, "chromium"], check=False)


def main() -> int:
    reason = failure()
    for get, what in ((_install_package, "Debian's package"), (_download, "Playwright's download")):
        if not reason:
            return 0
        print(f"The tests need Chromium, and there is none that starts. Trying {what} ...", flush=True)
        get()
        reason = failure()
    if reason:
        print(
            f"{reason}\n\nNo Chromium could be had, and the browser tests need one: neither a system one, nor the "
            "package of the distribution, nor Playwright's download. Install chromium or google-chrome and run this "
            "again.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
