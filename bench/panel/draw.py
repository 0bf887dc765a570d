"""Draws suggestions of a project for reading, of every rank, and with second and third choices of words among them.

    python bench/panel/draw.py SLUG NAME COUNT [SEED] > drawn.jsonl

The approval model learns from what was read, so that it has to see more than what would be shown: a third of the pairs
come from ranks at which nothing is proposed today, and two words in five are not the first choice.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django

django.setup()

from linker.embedding.service import embedding_model
from linker.engine.params import MatchParams
from linker.engine.rank import rank_site
from linker.engine.ranking.options import EngineOptions
from linker.engine.text.sentences import sentence_and_heading
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.models import Project


def main() -> None:
    slug, name, count, *seed = sys.argv[1:]
    rng = np.random.default_rng(int(seed[0]) if seed else 5)
    project = Project.objects.get(slug=slug)
    model = embedding_model(project)
    site = load_site(project, model, eligible_pages(project, model, MatchParams())).site
    ranked = rank_site(site, EngineOptions(pool=40))
    donor = ranked.pairs.source
    rank = np.arange(len(donor)) - np.searchsorted(donor, donor)
    wanted = []
    for low, high, share in ((0, 3, 0.4), (3, 10, 0.35), (10, 40, 0.25)):
        among = np.flatnonzero((rank >= low) & (rank < high))
        wanted.append(rng.choice(among, min(int(share * int(count)), len(among)), replace=False))
    places = np.sort(np.concatenate(wanted))
    template = ranked.index.template
    for place, choices in zip(places.tolist(), ranked.anchor_choices(places), strict=True):
        source, target = int(donor[place]), int(ranked.pairs.target[place])
        row = {
            "site": name,
            "donor_url": site.urls[source],
            "acceptor_url": site.urls[target],
            "arm": f"rank{int(rank[place])}",
            "probability": None if np.isnan(ranked.probability[place]) else round(float(ranked.probability[place]), 4),
            "placement": "related",
            "anchor": template.strip(site.h1s[target] or site.titles[target]),
            "sentence": "",
            "donor_title": site.titles[source] or site.h1s[source],
            "donor_about": " ".join(site.bodies[source].split())[:350],
            "target_title": site.titles[target] or site.h1s[target],
            "target_url": site.urls[target],
            "target_about": " ".join(site.bodies[target].split())[:450],
        }
        if choices and rng.random() < 0.7:
            number = int(rng.choice([0, 0, 0, 1, 2, 3]))
            choice = choices[min(number, len(choices) - 1)]
            row["anchor"] = choice.text
            row["placement"] = "inline"
            row["sentence"] = sentence_and_heading(site.bodies[source], choice.start, choice.end)[0]
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
