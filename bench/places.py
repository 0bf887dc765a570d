"""How well a place is found for a link: editors' own links are taken, and the paragraphs of the donor are ranked for
the page behind each, as XLocEI does (arXiv 2410.04254).

    python bench/places.py FOLDER... [--most 2000] [--seed 3]

A folder holds pages.jsonl.gz (url, title, h1, text, lang) and links.csv.gz (source_url, target_url, anchor, kind, ctx,
offset in the text). Needs no database. For each site a Markdown table: the share of links whose own paragraph comes
first (Hits@1, ties shared, with a 95% interval by resampling donors), by chance, by BM25 with the page's title and H1,
and by linker.engine.anchors.paragraphs, where the words of the link are there, where they are taken out of their
sentence, and where the whole sentence is. `named`: links whose words share one with the page's name or with anchors of
other links to it. A link is judged if its paragraph is one that may take a sentence and not the only one; how many are
is shown.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from linker.engine.anchors.paragraphs import SiteWords, SourceParagraphs, TargetContent, TargetQuery, names_of
from linker.engine.text.sentences import sentences
from linker.engine.text.template import find_template

csv.field_size_limit(1 << 30)
SAMPLE = 2_000
MODES = {"there": "words there", "words": "words taken out", "sentence": "sentence taken out"}


@dataclass(frozen=True)
class Link:
    """A pair of pages, where the donor links to the target, and whether the words of the first name it."""

    source: str
    target: str
    spans: tuple[tuple[int, int], ...]
    in_prose: int


def load(folder: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, str]]]:
    """Pages by address, and the links of their texts whose target is one of them."""
    with gzip.open(folder / "pages.jsonl.gz", "rt", encoding="utf-8") as file:
        pages = {page["url"]: page for page in map(json.loads, file)}
    with gzip.open(folder / "links.csv.gz", "rt", encoding="utf-8", newline="") as file:
        links = [
            row
            for row in csv.DictReader(file)
            if row["kind"] == "content" and row["offset"] not in ("", "-1") and row["source_url"] != row["target_url"]
        ]
    return pages, [row for row in links if row["source_url"] in pages and row["target_url"] in pages]


class Site:
    def __init__(self, folder: Path, seed: int) -> None:
        self.pages, self.rows = load(folder)
        pages = list(self.pages.values())
        self.template = find_template([page["title"] or "" for page in pages], [page["h1"] or "" for page in pages])
        chosen = random.Random(seed).sample(pages, min(SAMPLE, len(pages)))
        self.words = SiteWords([page["text"] for page in chosen], [self.language(page) for page in chosen])
        self.by_source: dict[str, list[dict[str, str]]] = defaultdict(list)
        self.by_target: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for row in self.rows:
            self.by_source[row["source_url"]].append(row)
            self.by_target[row["target_url"]].append((row["source_url"], row["anchor"]))

    @staticmethod
    def language(page: dict[str, Any]) -> str:
        return page.get("lang") or "en"

    def links(self) -> list[Link]:
        """One for each pair that an editor linked in running text."""
        places: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        prose: dict[tuple[str, str], int] = {}
        for row in self.rows:
            pair, start = (row["source_url"], row["target_url"]), int(row["offset"])
            places[pair].append((start, start + len(row["anchor"])))
            if row["ctx"] == "para":
                prose.setdefault(pair, start)
        return [Link(*pair, tuple(places[pair]), start) for pair, start in sorted(prose.items())]

    def question(self, source: str, target: str) -> TargetQuery:
        page = self.pages[target]
        language = self.language(page)
        names = names_of(page["title"] or "", page["h1"] or "", self.template, language)
        anchors = [anchor for other, anchor in self.by_target[target] if other != source]
        return TargetQuery(self.words, TargetContent(names, page["text"], anchors, language))

    def judge(self, link: Link, mode: str) -> tuple[float, float, float, bool] | None:
        """By chance, by BM25, by the product: the share of a hit; and whether the words name the page. None where
        there is nothing to choose."""
        page = self.pages[link.source]
        text = page["text"]
        whole = SourceParagraphs(self.words, text, self.words.read([text], [self.language(page)])[0])
        own = [
            place
            for place, (start, end) in enumerate(whole.spans)
            if any(start <= first < end for first, _ in link.spans)
        ]
        if len(whole.spans) < 2 or not any(whole.spans[at][0] <= link.in_prose < whole.spans[at][1] for at in own):
            return None
        cut = sorted(_cuts(text, link.spans, mode), reverse=True)
        for start, end in cut:
            text = text[:start] + text[end:]
        donor = SourceParagraphs(self.words, text, self.words.read([text], [self.language(page)])[0])
        lines = {page["text"].count("\n", 0, whole.spans[place][0]) for place in own}
        right = [text.count("\n", 0, start) in lines for start, _ in donor.spans]
        if not any(right) or len(right) < 2:
            return None
        question = self.question(link.source, link.target)
        anchor = page["text"][slice(*next(span for span in link.spans if span[0] == link.in_prose))]
        said = {stem for line in self.words.read([anchor], [self.language(page)])[0] for stem in line}
        plain = [donor._bm25(question.name, place) for place in range(len(donor.spans))]
        hits = [_hit(scores, right) for scores in ([0.0] * len(right), plain, donor.scores(question))]
        return hits[0], hits[1], hits[2], bool(said & (question.name.keys() | question.anchors.keys()))


def _cuts(text: str, spans: tuple[tuple[int, int], ...], mode: str) -> set[tuple[int, int]]:
    if mode == "there":
        return set()
    if mode == "words":
        return set(spans)
    # Links of one sentence are taken out with it; the line break stays.
    return {next(span for span in sentences(text, start) if start < span[1]) for start, _ in spans}


def _hit(scores: list[float], right: list[bool]) -> float:
    """The share of the best paragraphs that are right."""
    best = max(scores)
    first = [hit for score, hit in zip(scores, right, strict=True) if score >= best - 1e-12]
    return sum(first) / len(first)


def interval(values: np.ndarray, donors: np.ndarray, seed: int, draws: int = 1000) -> tuple[float, float]:
    """Of the mean: 95% of what comes of donors drawn again; the links of one are no independent ones."""
    _, donor = np.unique(donors, return_inverse=True)
    total, count = np.bincount(donor, weights=values), np.bincount(donor)
    drawn = np.random.default_rng(seed).integers(len(total), size=(draws, len(total)))
    low, high = np.percentile(total[drawn].sum(axis=1) / count[drawn].sum(axis=1), [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=2000, help="links of a site, drawn by chance")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    print("| site | | links | of | chance | BM25 | ours | 95% | named | ours, named |")
    print("|---" * 10 + "|")
    for folder in options.folders:
        site = Site(folder, options.seed)
        links = site.links()
        random.Random(options.seed).shuffle(links)
        links = links[: options.most]
        for mode, said in MODES.items():
            judged = [(link.source, found) for link in links if (found := site.judge(link, mode)) is not None]
            if not judged:
                continue
            donors = np.array([source for source, _ in judged])
            chance, plain, ours, named = np.array([found for _, found in judged]).T
            low, high = interval(ours, donors, options.seed)
            of_named = f"{ours[named > 0].mean():.3f}" if named.any() else ""
            print(
                f"| {folder.name} | {said} | {len(judged)} | {len(links)} | {chance.mean():.3f} | {plain.mean():.3f} | "
                f"{ours.mean():.3f} | {low:.3f} to {high:.3f} | {int(named.sum())} | {of_named} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
