"""bench/places.py judges what it says: the paragraph of a link, with its words and without them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FEET = "Whoever walks far on rough ground gets sore feet sooner or later, and blisters come of wet skin."
NIGHT = "At night the tent keeps the wind out, and a thick sleeping mat keeps the cold of the ground away."


def test_the_bench_counts_links_whose_paragraph_comes_first(tmp_path):
    donor = {"url": "/walks", "title": "Long walks", "h1": "Long walks", "text": f"{NIGHT}\n{FEET}", "lang": "en"}
    target = {
        "url": "/feet",
        "title": "Blisters",
        "h1": "",
        "text": "Sore feet and wet skin on rough ground.",
        "lang": "en",
    }
    others = [{**target, "url": f"/{n}", "title": f"Page {n}", "text": f"Words of page {n}."} for n in range(8)]
    with gzip.open(tmp_path / "pages.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(page)}\n" for page in (donor, target, *others))
    links = io.StringIO(newline="")
    rows = csv.writer(links)
    rows.writerow(["source_url", "target_url", "anchor", "kind", "ctx", "offset"])
    rows.writerow(["/walks", "/feet", "blisters", "content", "para", str(donor["text"].index("blisters"))])
    rows.writerow(["/walks", "/gone", "tent", "content", "para", str(donor["text"].index("tent"))])
    with gzip.open(tmp_path / "links.csv.gz", "wt", encoding="utf-8", newline="") as file:
        file.write(links.getvalue())

    command = [sys.executable, str(ROOT / "bench" / "places.py"), str(tmp_path)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [(row[1], row[2], row[4], row[6]) for row in cells[:2]] == [
        ("words there", "1", "0.500", "1.000"),
        ("words taken out", "1", "0.500", "1.000"),
    ]
    assert len(cells) == 2  # without its only sentence the paragraph is none
