"""Learns the ranker for sites without links from links of other sites, and says how good it is on sites unseen.

    python bench/links/train.py [--out FILE] [--without SITE ...] [--check]

Reads every bench/links/*.npz (see describe.py) and writes linker/engine/ranking/shipped/links.json.gz. `--without`
leaves sites out, to judge them later; `--check` prints, for each site, how a ranker that learned from the others does
there. The same data give the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from bench.trees import REPRODUCIBLE
from linker.engine.ranking.other_sites import COLUMNS, SHIPPED

HERE = Path(__file__).parent
ROUNDS = 200
TREES = REPRODUCIBLE | {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_data_in_leaf": 60,
    "lambda_l2": 20.0,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
}

Site = dict[str, np.ndarray]


def described(without: list[str]) -> dict[str, Site]:
    """The sites by name, but for some."""
    return {path.stem: dict(np.load(path)) for path in sorted(HERE.glob("*.npz")) if path.stem not in without}


def grow(sites: dict[str, Site]) -> lightgbm.Booster:
    """A pair weighs as many candidates as it stands for, and a site by the root of its links: neither the largest
    alone nor all alike, since what few links say is chance."""
    weights = [site["weight"].astype(np.float64) / np.sqrt(site["right"].sum()) for site in sites.values()]
    right = np.concatenate([site["right"] for site in sites.values()])
    weight = np.concatenate(weights)
    weight /= weight[right].mean()
    table = np.concatenate([site["features"] for site in sites.values()]).astype(np.float32)
    return lightgbm.train(TREES, lightgbm.Dataset(table, right.astype(np.float32), weight=weight), ROUNDS)


def learned(without: list[str]) -> dict[str, object]:
    """What is shipped."""
    sites = described(without)
    return {
        "version": "links-1",
        "links": int(sum(site["right"].sum() for site in sites.values())),
        "sites": len(sites),
        "columns": COLUMNS,
        "model": grow(sites).model_to_string(),
    }


def report(sites: dict[str, Site]) -> None:
    """Of a linked page and another candidate of a donor, how often the linked one comes first, and how many of the
    linked ones are among the donor's first five, for the ranker and for similarity alone."""
    print("| site | donors | links | linked before not linked | by similarity | among the first 5 | by similarity |")
    print("|---|---|---|---|---|---|---|")
    for name, site in sites.items():
        model = grow({other: data for other, data in sites.items() if other != name})
        said = model.predict(site["features"].astype(np.float32), raw_score=True, num_threads=1)
        cosine = site["features"][:, COLUMNS.index("cosine")].astype(np.float64)
        counts = f"{len(np.unique(site['donor']))} | {site['right'].sum()}"
        ahead = " | ".join(f"{before(site, score):.3f}" for score in (said, cosine))
        five = " | ".join(f"{among_first(site, score, 5):.3f}" for score in (said, cosine))
        print(f"| {name} | {counts} | {ahead} | {five} |")


def before(site: Site, score: np.ndarray) -> float:
    """AUC within each donor, each by its number of links."""
    cuts = np.flatnonzero(np.diff(site["donor"])) + 1
    total = found = 0.0
    for right, mine in zip(np.split(site["right"], cuts), np.split(score, cuts), strict=True):
        if not right.all():
            total += right.sum()
            found += right.sum() * roc_auc_score(right, mine)
    return found / total


def among_first(site: Site, score: np.ndarray, most: int) -> float:
    """The share of links that are among the donor's first."""
    order = np.lexsort((-score, site["donor"]))
    donor = site["donor"][order]
    rank = np.arange(len(order)) - np.searchsorted(donor, donor)
    return float((site["right"][order] & (rank < most)).sum() / site["right"].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    kept = learned(options.without)
    options.out.write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
    print(f"{kept['links']:,} links of {kept['sites']} sites -> {options.out}")
    if options.check:
        report(described(options.without))


if __name__ == "__main__":
    main()
