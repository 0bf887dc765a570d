"""Learns the approval model from judged suggestions, and says how good it is on sites it has not seen.

    python bench/panel/train.py [--out FILE] [--without SITE ...] [--check]

Reads every bench/panel/*.jsonl.gz (see describe.py) and writes linker/engine/ranking/shipped/approval.json.gz. The
curves come from what models learned on the other sites say of each site, so that they state what may be expected of a
new one. `--without` leaves sites out, to judge them later; `--check` prints, for each site, the figures of models
learned on the others. The same data give the same file, byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from bench.trees import REPRODUCIBLE
from linker.engine.anchors.features import SPAN_FEATURES, WORD_FEATURES
from linker.engine.anchors.ownership import owned, ownership_shift
from linker.engine.ranking.approval import PAIR_FEATURES, SHIPPED, log_odds_shift

HERE = Path(__file__).parent
TREES = REPRODUCIBLE | {
    "objective": "binary",
    "learning_rate": 0.03,
    "num_leaves": 6,
    "min_data_in_leaf": 12,
    "lambda_l2": 10.0,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
}
ROUNDS = 300
# A pair that is nearer, says more of the target or is liked better by the site's own ranker is never less relevant for
# it: with so few judged suggestions, trees would find sites where it is.
NEVER_LESS = ("cosine", "words", "title_in_text", "own_title_in_target", "base", "formula", "nearer", "nearer_target")
NEVER_MORE = ("cosine_place", "words_place", "base_place", "formula_place")
OF_PAIRS = {
    "feature_fraction": 0.15,
    "monotone_constraints": [(name in NEVER_LESS) - (name in NEVER_MORE) for name in PAIR_FEATURES],
}
# Of a span: what the site's visible links say of it. Left out where the model must do without links.
BY_LINKS = (
    "begin", "begin_word", "begin_before", "end", "end_word", "end_after", "inside", "inside_most", "anchor_share",
    "links", "share", "keyness", "phrase_links", "edges_rank", "links_rank", "line_links",
)  # fmt: skip
BLIND = np.array([SPAN_FEATURES.index(name) for name in BY_LINKS])

Row = dict[str, Any]


def judged(without: list[str]) -> list[Row]:
    """Every judged suggestion whose pair is known to the engine, by site and order of reading."""
    rows = []
    for path in sorted(HERE.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return [row for row in rows if row["pair"] and name_of(row) not in without]


def pairs(rows: list[Row]) -> np.ndarray:
    return np.array([[row["pair"].get(name) for name in PAIR_FEATURES] for row in rows], dtype=np.float32)


def words(rows: list[Row]) -> np.ndarray:
    return np.array([[row["words"].get(name) for name in WORD_FEATURES] for row in rows], dtype=np.float32)


def name_of(row: Row) -> str:
    """The site, whether it was imported with its texts, without them, or crawled."""
    return str(row["site"]).removesuffix("_bare").removesuffix("_crawled")


def has_former_name(row: Row) -> bool:
    """Whether only the name was rejected, of a kind that is no longer proposed: titles that were cut, and phrases of
    descriptions."""
    return bool(row["arm"] in ("shown", "top3", "middle") and row["relevant"] and not row["accept"])


def has_words(row: Row) -> bool:
    return bool(row["words"])


def good_words(row: Row) -> bool:
    return bool(row["relevant"] and row["inline"] and row["anchor_ok"])


def grow(
    table: np.ndarray, label: list[bool], rounds: int = ROUNDS, trees: dict[str, Any] | None = None
) -> lightgbm.Booster:
    return lightgbm.train(TREES | (trees or {}), lightgbm.Dataset(table, np.array(label, dtype=np.float32)), rounds)


def raw(model: lightgbm.Booster, table: np.ndarray) -> np.ndarray:
    return model.predict(table, raw_score=True, num_threads=1) if len(table) else np.empty(0)


def relevance(rows: list[Row]) -> lightgbm.Booster:
    return grow(pairs(rows), [bool(row["relevant"]) for row in rows], 2 * ROUNDS, OF_PAIRS)


def linked_spans(without: list[str]) -> lightgbm.Booster:
    """What editors link, by the span alone: learned on links of sites whose other links are not looked at."""
    parts = [np.load(path) for path in sorted(HERE.glob("*.spans.npz")) if path.name.split(".")[0] not in without]
    table = blind(np.concatenate([part["features"] for part in parts]).astype(np.float32))
    return grow(
        table,
        np.concatenate([part["right"] for part in parts]).tolist(),
        120,
        {"num_leaves": 24, "learning_rate": 0.06},
    )


def blind(table: np.ndarray) -> np.ndarray:
    """Numbers of words as they are where a site has no links."""
    table = table.copy()
    table[:, BLIND] = 0
    return table


def wording(rows: list[Row], quick: lightgbm.Booster) -> lightgbm.Booster:
    """Learned twice from each judged suggestion: as it was, and as it would be on a site without links."""
    some = [row for row in rows if has_words(row) and row["relevant"]]
    table = worded(some, quick)
    unlinked = blind(table)
    unlinked[:, -1] = chance(quick, unlinked)
    return grow(np.concatenate([table, unlinked]), 2 * [good_words(row) for row in some])


def worded(rows: list[Row], quick: lightgbm.Booster) -> np.ndarray:
    """The numbers of words; without a choice learned on the site, `site` is what the span alone says."""
    table = words(rows)
    unknown = np.isnan(table[:, -1])
    table[unknown, -1] = chance(quick, table[unknown])
    return table


def chance(quick: lightgbm.Booster, table: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-raw(quick, blind(table)[:, : len(SPAN_FEATURES)])))


def curve(*log_odds: np.ndarray, label: list[bool], site: np.ndarray | None = None) -> list[float]:
    """Bias and weights. With `site`, the sites count alike however many of their suggestions were judged: what is
    stated is what may be expected of the next site, and the sites read most are not the likeliest to come."""
    weight = None
    if site is not None:
        _, place, count = np.unique(site, return_inverse=True, return_counts=True)
        weight = len(site) / len(count) / count[place]
    fitted = LogisticRegression(C=1.0).fit(np.column_stack(log_odds), label, sample_weight=weight)
    return [round(float(value), 6) for value in (fitted.intercept_[0], *fitted.coef_[0])]


def held_out(rows: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of relevance and of the words (NaN without any) by models that have not seen the row's site."""
    of_pair, of_words = np.empty(len(rows)), np.full(len(rows), np.nan)
    site = np.array([name_of(row) for row in rows])
    for one in sorted(set(site)):
        others = [row for row in rows if name_of(row) != one]
        mine = np.flatnonzero(site == one)
        table = pairs([rows[n] for n in mine])
        of_pair[mine] = raw(relevance(others), table) + log_odds_shift(table)
        some = np.array([n for n in mine if has_words(rows[n])], dtype=np.int64)
        if len(some):
            quick = linked_spans([one])
            table = worded([rows[n] for n in some], quick)
            of_words[some] = raw(wording(others, quick), table) + ownership_shift(owned(table))
    return of_pair, of_words


def learned(rows: list[Row], without: list[str]) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    of_pair, of_words = held_out(rows)
    in_text = np.flatnonzero(~np.isnan(of_words))
    beside = np.array([n for n, row in enumerate(rows) if not row["in_sentence"] and not has_former_name(row)])
    site = np.array([name_of(row) for row in rows])
    quick = linked_spans(without)
    kept = {
        "judged": len(rows),
        "sites": len({name_of(row) for row in rows}),
        "pair_features": PAIR_FEATURES,
        "word_features": WORD_FEATURES,
        "relevance": relevance(rows).model_to_string(),
        "words": wording(rows, quick).model_to_string(),
        "quick": quick.model_to_string(),
        "in_text": curve(of_pair[in_text], of_words[in_text], label=[good_words(rows[n]) for n in in_text]),
        "beside": curve(of_pair[beside], label=[bool(rows[n]["accept"]) for n in beside], site=site[beside]),
    }
    return kept, of_pair, of_words


def sigmoid(bias: float, *parts: tuple[float, np.ndarray]) -> np.ndarray:
    return 1 / (1 + np.exp(-(bias + sum(weight * value for weight, value in parts))))


def report(rows: list[Row], kept: dict[str, Any], of_pair: np.ndarray, of_words: np.ndarray) -> None:
    site = np.array([row["site"] for row in rows])
    bias, on_pair, on_words = kept["in_text"]
    in_text = sigmoid(bias, (on_pair, of_pair), (on_words, of_words))
    beside = sigmoid(kept["beside"][0], (kept["beside"][1], of_pair))
    print("| site | judged | relevant: AUC | today's | words: AUC | in the text: AUC | off | beside it: AUC | off |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in [*sorted(set(site)), ""]:
        mine = np.flatnonzero((site == one) | (one == ""))
        some = [n for n in mine if has_words(rows[n])]
        right = [n for n in some if rows[n]["relevant"]]
        plain = [n for n in mine if not rows[n]["in_sentence"]]
        cells = [
            area([rows[n]["relevant"] for n in mine], of_pair[mine]),
            area(
                [rows[n]["relevant"] for n in mine],
                [rows[n]["pair"]["base"] or rows[n]["pair"]["formula"] for n in mine],
            ),
            area([good_words(rows[n]) for n in right], of_words[right]),
            area([good_words(rows[n]) for n in some], in_text[some]),
            off([good_words(rows[n]) for n in some], in_text[some]),
            area([rows[n]["accept"] for n in plain], beside[plain]),
            off([rows[n]["accept"] for n in plain], beside[plain]),
        ]
        print(f"| {one or 'all'} | {len(mine)} | " + " | ".join(cells) + " |")


def area(label: list[Any], score: Any) -> str:
    return f"{roc_auc_score(np.array(label, dtype=bool), score):.3f}" if len(set(map(bool, label))) == 2 else "-"


def off(label: list[Any], said: np.ndarray) -> str:
    """How far what is stated lies from what was found, in five bands, weighted."""
    if not len(label):
        return "-"
    truth = np.array(label, dtype=float)
    band = np.minimum((said * 5).astype(int), 4)
    return f"{sum(abs((truth - said)[band == b].sum()) for b in range(5)) / len(truth):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = judged(options.without)
    kept, of_pair, of_words = learned(rows, options.without)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
    print(f"{len(rows):,} judged suggestions of {kept['sites']} sites -> {options.out}")
    if options.check:
        report(rows, kept, of_pair, of_words)


if __name__ == "__main__":
    main()
