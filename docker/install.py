"""Installs what the locks name into the environment whose Python runs this. For `make install` and the image.

PyTorch goes first and alone, since it alone has several builds of one version. On Linux the ordinary package index
holds the CUDA build, which brings gigabytes of libraries that only an NVIDIA card can use: a machine without its driver
gets the CPU build, from PyTorch's own index, or from the ordinary one where that cannot be reached and holds one.

Everything else is taken with --no-deps: nothing is resolved, the locks name it all.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA = re.compile(r"(nvidia|cuda|triton)\b", re.IGNORECASE)
DRIVER = Path("/proc/driver/nvidia/version")
# What comes over the line, roughly; measured on Linux, x86-64.
SIZES = {"cpu": "200 MB", "cuda": "3 GB", "rest": "400 MB"}
# A pip older than this downloads the whole of a package to see what it needs.
PIP = "pip>=25.3"


class InstallError(Exception):
    """What went wrong and what to do, for the user."""


def main() -> None:
    arguments = _arguments()
    torch = _locked_torch(arguments.locks[0])
    try:
        install_torch(torch, arguments)
        count = sum(len(_names(lock)) for lock in arguments.locks)
        print(f"{count} packages, about {SIZES['rest']}:", flush=True)
        _pip("install", "--no-deps", *(f"--requirement={lock}" for lock in arguments.locks))
    except InstallError as error:
        sys.exit(f"Not installed: {error}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locks", nargs="+", type=Path, metavar="LOCK", help="lock files; the first names PyTorch")
    parser.add_argument("--torch", choices=["auto", "cpu", "cuda"], default="auto", help="the build of PyTorch")
    parser.add_argument("--torch-index", default="", metavar="URL", help="the package index to take PyTorch from")
    parser.add_argument("--cpu-index", default=CPU_INDEX, metavar="URL", help="PyTorch's index of CPU builds")
    return parser.parse_args()


def install_torch(torch: str, arguments: argparse.Namespace) -> None:
    """Installs the build that was asked for, or that this machine can use. Raises InstallError."""
    if arguments.torch_index:
        print(f"PyTorch from {arguments.torch_index}:", flush=True)
        return _pip("install", "--no-deps", "--index-url", arguments.torch_index, torch)
    if wants_cuda(arguments.torch):
        size = SIZES["cpu" if platform.system() != "Linux" else "cuda"]
        print(f"PyTorch, the ordinary build for this platform, about {size}:", flush=True)
        return _pip("install", f"--constraint={arguments.locks[0]}", torch)
    print(f"PyTorch, the CPU build, about {SIZES['cpu']}:", flush=True)
    quick = ("--retries", "1", "--timeout", "20")
    if _tries("install", "--no-deps", "--index-url", arguments.cpu_index, *quick, torch):
        return None
    print(f"{arguments.cpu_index} cannot be reached; looking at the ordinary package index.", flush=True)
    if _is_cuda_build(torch):
        raise InstallError(
            f"the ordinary package index holds only the CUDA build of PyTorch, about {SIZES['cuda']}, and this machine "
            f"has no NVIDIA driver. Give an index that holds the CPU build (make install TORCH_INDEX=URL), or take the "
            "CUDA build all the same (make install TORCH=cuda): it works without a card too."
        )
    return _pip("install", "--no-deps", torch)


def wants_cuda(asked: str) -> bool:
    """Whether to take the ordinary build: where it was asked for, off Linux, and beside an NVIDIA driver."""
    if asked == "auto":
        return platform.system() != "Linux" or DRIVER.exists() or shutil.which("nvidia-smi") is not None
    return asked == "cuda"


def _is_cuda_build(torch: str) -> bool:
    """Whether the ordinary index's build needs CUDA's libraries. Reads what it needs, without downloading it."""
    _tries("install", "-qqq", "--upgrade", PIP)
    look = ("install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report=-", torch)
    report = subprocess.run([sys.executable, "-m", "pip", *look], stdout=subprocess.PIPE, text=True)
    if report.returncode:
        raise InstallError(f"{torch} is not to be had from the ordinary package index either; pip says why above.")
    [package] = json.loads(report.stdout)["install"]
    return any(CUDA.match(needed) and _applies(needed) for needed in package["metadata"].get("requires_dist", ()))


def _applies(needed: str) -> bool:
    """Whether a requirement is one of this machine: it has no marker, or one that says so. Extras are not asked for."""
    _, separator, marker = needed.partition(";")
    if not separator:
        return True
    # Nothing but pip is installed yet, and pip brings the reading of markers with it.
    from pip._vendor.packaging.markers import Marker

    return Marker(marker.strip()).evaluate({"extra": ""})


def _locked_torch(lock: Path) -> str:
    [torch] = [name for name in _names(lock) if name.startswith("torch==")]
    return torch


def _names(lock: Path) -> list[str]:
    return [line.split(";")[0].strip() for line in lock.read_text(encoding="utf-8").splitlines() if line.strip()]


def _pip(*arguments: str) -> None:
    if not _tries(*arguments):
        raise InstallError("pip says above why. Nothing else was changed; `make install` begins where it stopped.")


def _tries(*arguments: str) -> bool:
    return subprocess.run([sys.executable, "-m", "pip", *arguments]).returncode == 0


if __name__ == "__main__":
    main()
