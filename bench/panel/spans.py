"""Spans of texts for links that editors made, to learn from where a site has too few links of its own.

    python bench/panel/spans.py SLUG NAME COUNT > bench/panel/NAME.spans.npz

Of COUNT of the project's links, drawn by chance, every stretch that could have become the link, described as if the
link were not there, and whether it says what the editor's anchor says. Numbers alone, no words.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django

django.setup()

from linker.embedding.service import embedding_model
from linker.engine.anchors.spans import text_blocks
from linker.engine.anchors.tokenized import SpanReader
from linker.engine.anchors.training import AnchorOptions, examples
from linker.engine.index import build_index, no_progress
from linker.engine.params import MatchParams
from linker.engine.site import checked
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.models import Project

KEPT = 25  # wrong stretches kept a link


def main() -> None:
    slug, _, count = sys.argv[1:]
    project = Project.objects.get(slug=slug)
    model = embedding_model(project)
    site = checked(load_site(project, model, eligible_pages(project, model, MatchParams())).site)
    index = build_index(site)
    reader = SpanReader(index)
    rng = np.random.default_rng(3)
    pages = np.sort(rng.permutation(np.unique(site.links.src))[:1000])
    found = examples(reader, list(text_blocks(reader, pages)), AnchorOptions(most=int(count)), no_progress)
    answered = np.isin(found.query, found.query[found.right])
    order = np.lexsort((rng.random(len(found.query)), ~found.right, found.query))
    rank = np.arange(len(order)) - np.searchsorted(found.query[order], found.query[order])
    keep = np.sort(order[(rank < KEPT) & answered[order]])
    print(f"{slug}: {len(keep)} stretches, {int(found.right[keep].sum())} right", file=sys.stderr)
    np.savez_compressed(sys.stdout.buffer, features=found.features[keep].astype(np.float16), right=found.right[keep])


if __name__ == "__main__":
    main()
