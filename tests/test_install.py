"""What `make install` takes for PyTorch: the build the machine can use, and never gigabytes of CUDA unasked."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).resolve().parent.parent
NOWHERE = "http://127.0.0.1:9/"  # the discard port: nothing listens


def wheel(index: Path, name: str, version: str, *needs: str) -> None:
    """Puts a package without content into a folder that pip reads as an index."""
    folder = index / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(file, "w") as content:
        content.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}")
        content.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        content.writestr(f"{about}/RECORD", "")
    links = "".join(f'<a href="{one.name}">{one.name}</a>\n' for one in sorted(folder.glob("*.whl")))
    (folder / "index.html").write_text(links)


@pytest.fixture
def indexes(tmp_path) -> tuple[Path, Path]:
    """The ordinary index, whose PyTorch needs CUDA, and one of CPU builds."""
    ordinary, cpu = tmp_path / "ordinary", tmp_path / "cpu"
    wheel(ordinary, "torch", "2.13.0", "nvidia-cublas", "small")
    wheel(ordinary, "nvidia_cublas", "13.0")
    (ordinary / "nvidia_cublas").rename(ordinary / "nvidia-cublas")
    wheel(ordinary, "small", "1.0")
    wheel(cpu, "torch", "2.13.0+cpu", "small")
    return ordinary, cpu


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture
def python(environment) -> Path:
    """The Python of an environment with nothing but pip in it."""
    names = list(installed(environment))
    if names:
        subprocess.run([environment, "-m", "pip", "uninstall", "--quiet", "--yes", *names], check=True)
    return environment


def install(python: Path, tmp_path: Path, ordinary: Path, *options: str) -> subprocess.CompletedProcess[str]:
    lock = tmp_path / "requirements.lock"
    lock.write_text("small==1.0\ntorch==2.13.0\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": ordinary.as_uri()}
    return subprocess.run(
        [python, ROOT / "docker" / "install.py", lock, *options], env=environment, capture_output=True, text=True
    )


def installed(python: Path) -> dict[str, str]:
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = dict(line.split("==") for line in listed.splitlines())
    return {name.replace("_", "-"): version for name, version in found.items() if name not in {"pip", "setuptools"}}


def test_the_cpu_build_comes_from_pytorch_s_own_index(python, indexes, tmp_path):
    ordinary, cpu = indexes
    done = install(python, tmp_path, ordinary, "--torch", "cpu", "--cpu-index", cpu.as_uri())
    assert done.returncode == 0, done.stderr
    assert installed(python) == {"torch": "2.13.0+cpu", "small": "1.0"}
    assert "the CPU build, about 200 MB" in done.stdout


def test_cuda_is_never_taken_unasked(python, indexes, tmp_path):
    ordinary, _ = indexes
    done = install(python, tmp_path, ordinary, "--torch", "cpu", "--cpu-index", NOWHERE)
    assert done.returncode == 1
    assert "holds only the CUDA build" in done.stderr
    assert "TORCH=cuda" in done.stderr
    assert installed(python) == {}


def test_the_ordinary_index_does_where_it_holds_a_cpu_build(python, indexes, tmp_path):
    ordinary, _ = indexes
    wheel(ordinary, "torch", "2.13.0", "small")
    done = install(python, tmp_path, ordinary, "--torch", "cpu", "--cpu-index", NOWHERE)
    assert done.returncode == 0, done.stderr
    assert installed(python) == {"torch": "2.13.0", "small": "1.0"}


@pytest.mark.parametrize(
    ("marker", "is_cuda"),
    [
        (f'platform_machine == "{platform.machine()}"', True),
        ('platform_machine == "of another kind"', False),
        ('platform_machine == "of another kind" and platform_system == "Linux"', False),
        ('extra == "cuda"', False),
    ],
)
def test_what_only_other_machines_need_makes_no_cuda_build(python, indexes, tmp_path, marker, is_cuda):
    ordinary, _ = indexes
    wheel(ordinary, "torch", "2.13.0", f"nvidia-cublas; {marker}", "small")
    done = install(python, tmp_path, ordinary, "--torch", "cpu", "--cpu-index", NOWHERE)
    assert ("holds only the CUDA build" in done.stderr) == is_cuda, done.stderr
    assert installed(python) == ({} if is_cuda else {"torch": "2.13.0", "small": "1.0"})


def test_who_asks_for_cuda_gets_it(python, indexes, tmp_path):
    ordinary, cpu = indexes
    done = install(python, tmp_path, ordinary, "--torch", "cuda", "--cpu-index", cpu.as_uri())
    assert done.returncode == 0, done.stderr
    assert installed(python) == {"torch": "2.13.0", "nvidia-cublas": "13.0", "small": "1.0"}
    assert "about 3 GB" in done.stdout


def test_a_package_that_is_not_to_be_had_ends_in_a_sentence(python, indexes, tmp_path):
    ordinary, cpu = indexes
    for file in (ordinary / "small").iterdir():
        file.unlink()
    done = install(python, tmp_path, ordinary, "--torch", "cpu", "--cpu-index", cpu.as_uri())
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Not installed: pip says above why.")
