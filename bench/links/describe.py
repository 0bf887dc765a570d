"""Describes the links that a site's editors made by what would be known of them if the site had no links at all.

    python bench/links/describe.py SLUG NAME [--donors 800] [--wrong 25] > bench/links/NAME.npz

SLUG is a project that is imported, with its links, and embedded. Of some donors, drawn by chance, every linked page
that is among the candidates, and some of the other candidates. Numbers alone: no words, no addresses.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django

django.setup()

from linker.embedding.service import embedding_model
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.params import MatchParams
from linker.engine.ranking.features import FEATURES, candidates
from linker.engine.ranking.other_sites import COLUMNS
from linker.engine.site import Links, Site, checked
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.models import Project

PLACES = [FEATURES.index(name) for name in COLUMNS]
NOBODY = np.empty(0, dtype=np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slug")
    parser.add_argument("name")
    parser.add_argument("--donors", type=int, default=800)
    parser.add_argument("--wrong", type=int, default=25)
    options = parser.parse_args()
    project = Project.objects.get(slug=options.slug)
    model = embedding_model(project)
    site = load_site(project, model, eligible_pages(project, model, MatchParams())).site
    found = described(site, options.donors, options.wrong)
    right, links = int(found["right"].sum()), len(np.unique(site.links.src * len(site) + site.links.dst))
    print(f"{options.name}: {len(found['right']):,} pairs, {right:,} of {links:,} links", file=sys.stderr)
    np.savez_compressed(sys.stdout.buffer, **found)


def described(site: Site, most_donors: int, wrong: int) -> dict[str, np.ndarray]:
    """Arrays [m] by donor: `features` float16 [m, len(COLUMNS)], `right` bool, `donor` int16: a number in place of the
    page, and `weight` float16: candidates that each stands for."""
    linked = np.unique(site.links.src * len(site) + site.links.dst)
    bare = checked(dataclasses.replace(site, links=Links(NOBODY, NOBODY, [])))
    evidence = build_evidence(build_index(bare), NOBODY)
    rng = np.random.default_rng(3)
    donors = np.sort(rng.permutation(np.unique(linked // len(site)))[:most_donors])
    columns: dict[str, list[np.ndarray]] = {"features": [], "right": [], "donor": [], "weight": []}
    for first in range(0, len(donors), 256):
        some = donors[first : first + 256]
        found = candidates(evidence, some, (NOBODY, NOBODY))
        right = np.isin(found.source * len(site) + found.target, linked)
        keep, weight = drawn(found.source, right, wrong, rng)
        columns["features"].append(found.features[keep][:, PLACES].astype(np.float16))
        columns["right"].append(right[keep])
        columns["donor"].append((np.searchsorted(some, found.source[keep]) + first).astype(np.int16))
        columns["weight"].append(weight.astype(np.float16))
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def drawn(donor: np.ndarray, right: np.ndarray, wrong: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that are kept, and how many candidates each stands for: all right ones and `wrong` others a donor, and
    nothing of donors without a right one."""
    order = np.lexsort((rng.random(len(donor)), right, donor))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(donor[order], donor[order])
    others = np.bincount(donor, ~right, minlength=int(donor.max(initial=0)) + 1)[donor]
    answered = np.isin(donor, donor[right])
    keep = np.flatnonzero(answered & (right | (rank < wrong)))
    weight = np.where(right, 1.0, np.maximum(others / wrong, 1.0))
    return keep, weight[keep]


if __name__ == "__main__":
    main()
