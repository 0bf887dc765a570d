"""No cell, header or text takes more than linear time, whatever it holds. Work is counted or bounded, never timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ingest.addresses.normalise import Site, folder_names
from ingest.cells.values import parse_json_ld, parse_number
from ingest.fields.mapping import families, family
from ingest.files.column_names import header_key, unique_names
from ingest.kinds.pages.breadcrumbs import ONE_CELL_PATH
from linker.engine.anchors.placement import unsuitable
from linker.engine.text.clean import clean
from linker.engine.text.generic import is_generic

ROOT = Path(__file__).resolve().parents[2]


def steps(work, *args) -> int:
    """Steps of Python's own machine that a call takes."""
    count = 0

    def look(frame, event, arg):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return look

    sys.settrace(look)
    try:
        work(*args)
    except ValueError:
        pass
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(
    ("work", "made"),
    [
        (unique_names, lambda n: ["Title"] * n),
        (unique_names, lambda n: ["Title", "Title (2)"] * (n // 2)),
        (unique_names, lambda n: [""] * n),
        (families, lambda n: [f"Title {number}" for number in range(n)]),
        (family, lambda n: "1" * n),
        (family, lambda n: "_ " * n + "x"),
        (header_key, lambda n: "\u0316\u0301" * n),
        (parse_json_ld, lambda n: '{"BreadcrumbList": ' + "[" * n),
        (parse_json_ld, lambda n: "[" + '{"@type": "x"},' * n + '"end"]'),
        (parse_number, lambda n: "1," * n),
        (Site("https://shop.example").canonical_url, lambda n: "https://shop.example" + "/a" * n),
        (folder_names, lambda n: "https://shop.example" + "/a" * n),
    ],
)
def test_twice_as_much_takes_at_most_about_twice_the_steps(work, made):
    once, twice = steps(work, made(500)), steps(work, made(1_000))
    assert twice <= 2.2 * once + 200


@pytest.mark.nightly
@pytest.mark.slow
def test_no_regular_expression_backtracks_beyond_measure():
    """In a process that is ended where it does: its last line then names the expression."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ingest.pumps"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-500:])


def test_what_the_expressions_recognised_they_still_do():
    assert [part.strip() for part in ONE_CELL_PATH.split("Shop > Boots/Shoes / Winter | a|b")] == [
        *("Shop", "Boots/Shoes", "Winter", "a|b")
    ]
    assert family("H2-12") == family("H2-1") == "H2"
    assert families(["C 10", "C 2", "C 1"]) == {"C": ["C 1", "C 2", "C 10"]}
    assert is_generic("write to me.now@mail.shop.example") is False
    assert is_generic("me.now@mail.shop.example")
    for line in ("Figure 3: boots", "Fig. 3. Boots", "Photo: a boot", "Source . x", "Table 1 : sizes"):
        assert unsuitable(line, 0, 3) == "caption"
    assert unsuitable("Figures tell little", 0, 3) == ""
    assert clean("&#" + "9" * 5_000 + "; boots") == "&#" + "9" * 5_000 + "; boots"
