"""How good the suggestions for a project are: hide a share of its body links, rank without them, count what returns.

    python bench/quality.py SLUG [--share 0.2] [--seed 7] [--donors N] [--most-pairs N] [--ablate]

Prints, as a Markdown table, recall at 5, 10 and 20 (hidden links among the first k of their donor), the mean reciprocal
rank, the precision where half of the hidden links are found (over donors with a hidden link, all other pairs counted
wrong), and seconds. `--ablate` repeats it with each generator switched off, each group of features left out of the
learned ranker, and by the formula. `--donors` takes only so many pages as donors, drawn by chance, to save time. The
project must be imported and embedded.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django

django.setup()

from linker.embedding.service import embedding_model
from linker.engine.anchors.training import AnchorOptions
from linker.engine.candidates.registry import GENERATORS
from linker.engine.params import MatchParams
from linker.engine.rank import rank_site
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.features import FEATURES, GROUPS
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.ranked import Ranked
from linker.engine.site import Links, Site
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.models import Project


def without(site: Site, share: float, seed: int) -> tuple[Site, np.ndarray]:
    """The site without a share of its linked pairs, and those pairs as donor * n + target, ascending."""
    key = site.links.src * len(site) + site.links.dst
    distinct = np.unique(key)
    hidden = np.random.default_rng(seed).permutation(distinct)[: int(share * len(distinct))]
    keep = ~np.isin(key, hidden)
    anchors = [anchor for anchor, kept in zip(site.links.anchors, keep.tolist(), strict=True) if kept]
    links = Links(site.links.src[keep], site.links.dst[keep], anchors)
    return dataclasses.replace(site, links=links), np.sort(hidden)


def with_donors(site: Site, most: int, seed: int) -> Site:
    """The site with only so many donors."""
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(site.source))[:most]
    donor = np.zeros(len(site), dtype=bool)
    donor[chosen] = True
    return dataclasses.replace(site, source=donor)


def figures(ranked: Ranked, hidden: np.ndarray, pages: int) -> dict[str, float]:
    """Recall at 5, 10, 20, mean reciprocal rank and precision at half recall."""
    donor, target = ranked.pairs.source, ranked.pairs.target
    right = np.isin(donor * pages + target, hidden)
    rank = np.arange(len(donor)) - np.searchsorted(donor, donor)
    found = {f"recall@{k}": float((right & (rank < k)).sum() / len(hidden)) for k in (5, 10, 20)}
    asked = np.unique(hidden // pages)
    first = {}
    for page, place in zip(donor[right].tolist(), rank[right].tolist(), strict=True):
        first.setdefault(page, place)
    found["mrr"] = sum(1 / (place + 1) for place in first.values()) / len(asked)
    among = np.isin(donor, asked)
    order = np.argsort(-ranked.probability[among], kind="stable")
    hits = np.cumsum(right[among][order])
    half = np.flatnonzero(hits >= 0.5 * len(hidden))
    found["precision at half recall"] = float(hits[half[0]] / (half[0] + 1)) if len(half) else float("nan")
    return found


def variants(training: TrainOptions, ablate: bool) -> list[tuple[str, EngineOptions]]:
    no_anchors = AnchorOptions(min_links=sys.maxsize)  # the words of links are judged elsewhere
    base = EngineOptions(training=training, anchors=no_anchors)
    found = [("everything", base)]
    if not ablate:
        return found
    found += [
        (f"without generator {name}", dataclasses.replace(base, generators=tuple(set(GENERATORS) - {name})))
        for name in GENERATORS
    ]
    for group, names in GROUPS.items():
        columns = tuple(name for name in FEATURES if name not in names)
        found.append(
            (
                f"without features {group}",
                dataclasses.replace(base, training=dataclasses.replace(training, columns=columns)),
            )
        )
    return [*found, ("formula", dataclasses.replace(base, ranking="formula"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slug")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--donors", type=int, default=0)
    parser.add_argument("--most-pairs", type=int, default=TrainOptions.most_pairs, help="pairs the ranker learns from")
    parser.add_argument("--ablate", action="store_true")
    options = parser.parse_args()
    project = Project.objects.get(slug=options.slug)
    model = embedding_model(project)
    site = load_site(project, model, eligible_pages(project, model, MatchParams())).site
    thin, hidden = without(site, options.share, options.seed)
    if options.donors:
        thin = with_donors(thin, options.donors, options.seed)
        hidden = hidden[thin.source[hidden // len(site)]]
    print(f"{len(site):,} pages, {len(thin.links):,} links kept, {len(hidden):,} pairs hidden\n", flush=True)
    first: dict[str, float] = {}
    for name, engine in variants(TrainOptions(most_pairs=options.most_pairs), options.ablate):
        started = time.perf_counter()
        row = figures(rank_site(thin, engine), hidden, len(site))
        if not first:
            first = row
            print("| variant |", " | ".join(row), "| change of recall@10 | seconds |")
            print("|---|" + "---|" * (len(row) + 2), flush=True)
        change = row["recall@10"] - first["recall@10"]
        cells = " | ".join(f"{value:.3f}" for value in row.values())
        print(f"| {name} | {cells} | {change:+.3f} | {time.perf_counter() - started:.0f} |", flush=True)


if __name__ == "__main__":
    main()
