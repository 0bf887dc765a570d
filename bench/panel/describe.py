"""Describes judged suggestions by the numbers that the approval model learns from.

    python bench/panel/describe.py SLUG NAME JUDGED.jsonl ... > bench/panel/NAME.jsonl

SLUG is a project that is imported and embedded. A judged line holds donor_url, acceptor_url, anchor, sentence and
the verdicts relevant, inline, anchor_ok, accept and fault. Every line comes back without its sentence, with `pair`
(the numbers of the pair) and `words` (those of its words in the sentence, null where there are none).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django

django.setup()

from linker.embedding.service import embedding_model
from linker.engine.anchors.choice import span_finder
from linker.engine.anchors.context import in_context
from linker.engine.anchors.features import WORD_FEATURES, word_table
from linker.engine.anchors.placement import Folded
from linker.engine.anchors.spans import CandidateSpans
from linker.engine.anchors.tokenized import TokenizedTexts
from linker.engine.anchors.training import AnchorRanker, train_anchors
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import build_index
from linker.engine.params import MatchParams
from linker.engine.ranking.approval import PAIR_FEATURES, nearness_of, pair_table
from linker.engine.ranking.boosted_trees import TrainedScorer, train
from linker.engine.ranking.choose import rank_by_source
from linker.engine.ranking.features import candidates
from linker.engine.ranking.formula_score import FormulaWeights, formula_parts, formula_score
from linker.engine.site import checked
from linker.engine.text.fold import fold
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.models import Project

KEPT = (
    "donor_url", "acceptor_url", "anchor", "placement", "arm", "probability", "relevant", "inline", "anchor_ok",
    "accept", "fault",
)  # fmt: skip

Row = dict[str, Any]


def main() -> None:
    slug, name, *files = sys.argv[1:]
    judged = [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    project = Project.objects.get(slug=slug)
    model = embedding_model(project)
    site = checked(load_site(project, model, eligible_pages(project, model, MatchParams())).site)
    page = {url: number for number, url in enumerate(site.urls)}
    rows = [row for row in judged if row["donor_url"] in page and row["acceptor_url"] in page]
    print(f"{name}: {len(rows)} of {len(judged)} are on the site", file=sys.stderr)
    index = build_index(site)
    evidence = build_evidence(index, np.arange(len(site.links)))
    describe_pairs(rows, evidence, train(index), page)
    describe_words(rows, evidence, train_anchors(index), page)
    for row in rows:
        kept = {key: row.get(key) for key in KEPT}
        told = {"site": name, "in_sentence": bool(row["sentence"]), "pair": row["pair"], "words": row["words"]}
        print(json.dumps(kept | told, ensure_ascii=False))


def describe_pairs(rows: list[Row], evidence: Evidence, ranker: TrainedScorer | None, page: dict[str, int]) -> None:
    """Gives each row its `pair`; None where no generator finds it."""
    index = evidence.index
    nobody = np.empty(0, np.int64)
    nearness = nearness_of(index.near)
    for row in rows:
        donor, target = page[row["donor_url"]], page[row["acceptor_url"]]
        found = candidates(evidence, np.array([donor]), (nobody, nobody))
        parts = formula_parts(index.site, found.target, found.features, evidence.graph.indegree)
        formula = formula_score(parts, FormulaWeights())
        base = ranker.raw(found.features) if ranker else np.full(len(found), np.nan)
        table = pair_table(
            found.features, base, rank_by_source(found, base) if ranker else base, formula,
            rank_by_source(found, formula), found.found, nearness, index.site.within_reach, found.source,
            found.target,
        )  # fmt: skip
        place = np.flatnonzero(found.target == target)
        row["pair"] = numbers(PAIR_FEATURES, table[place[0]]) if len(place) else None


def describe_words(rows: list[Row], evidence: Evidence, ranker: AnchorRanker | None, page: dict[str, int]) -> None:
    """Gives each row its `words`; None where there is no sentence, or they are no span of the text."""
    finder = span_finder(evidence, ranker)
    for row in rows:
        row["words"] = None
        if not row["sentence"]:
            continue
        target = np.array([page[row["acceptor_url"]]])
        texts = TokenizedTexts(finder.reader, np.array([page[row["donor_url"]]]))
        found = finder.find(texts, np.array([0]), target)
        place = span_of(row, Folded(evidence.index.site.bodies[page[row["donor_url"]]]), texts, found)
        if place is None:
            continue
        one = found.take(np.array([place]))
        own = ranker.score(one.features) if ranker else np.array([np.nan])
        row["words"] = numbers(WORD_FEATURES, word_table(one.features, in_context(finder, texts, target, one), own)[0])


def span_of(row: Row, body: Folded, texts: TokenizedTexts, found: CandidateSpans) -> int | None:
    """The span that says the row's anchor, in its sentence where there are several."""
    inside, elsewhere = fold(row["sentence"].strip("… ")), None
    for number in range(len(found.first)):
        span = body.span(int(texts.start[found.first[number]]), int(texts.stop[found.last[number] - 1]))
        if span is None or fold(body.text[span[0] : span[1]]) != fold(row["anchor"]):
            continue
        if fold(body.text[max(0, span[0] - 12) : span[1] + 12]) in inside:
            return number
        elsewhere = number if elsewhere is None else elsewhere
    return elsewhere


def numbers(names: tuple[str, ...], values: np.ndarray) -> dict[str, float | None]:
    return {
        name: None if np.isnan(value) else round(value, 4) for name, value in zip(names, values.tolist(), strict=True)
    }


if __name__ == "__main__":
    main()
