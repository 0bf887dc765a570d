"""The learned ranker: gradient-boosted trees over the features of pairs, trained on links hidden from themselves.

What they learn from is made by `training_set`. Models are cross-validated by source: each is trained without the
sources of one group, its predictions for that group are held back, and from all of them together come calibration and
the reported quality. A pair is scored by the mean of the models."""

from __future__ import annotations

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linker.engine.arrays.vectors import slices
from linker.engine.index import Progress, no_progress
from linker.engine.lightgbm_alone import lightgbm
from linker.engine.limits import Limits
from linker.engine.ranking.features import FEATURES, GROUPS
from linker.engine.ranking.rankers.base import Card, Scorer
from linker.engine.ranking.training_set import TrainingSet, training_set

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from linker.engine.index import SiteIndex

VERSION = "trees-1"
LABELS_A_LEAF = 80
MIN_LEAVES = 8
THREADS = 2
AT = 10  # suggestions a source at which recall is reported


@dataclass(frozen=True)
class TrainOptions:
    """How the ranker is trained.

    folds        shares of the links that are hidden in turn; also the number of models
    min_labels   labels (links found among the candidates) below which nothing is learned
    most_pairs   pairs trained on; sources are drawn until it is reached, so many `sources` at a time
    seed         of every random choice
    negatives    share of the wrong pairs that trees are grown on, weighted in return; all of them calibrate
    threads      models grown, or read, at a time. Each has one thread of its own: the library's threads wait for one
                 another busily, and on a machine that does other work too the waiting takes many times the work
    rounds, learning_rate, leaves, smallest_leaf, l2   of the trees; with few labels they have fewer leaves
    columns      features that are learned from
    """

    folds: int = 5
    min_labels: int = 60
    most_pairs: int = 1_000_000
    sources: int = 512
    seed: int = 11
    negatives: float = 0.35
    threads: int = THREADS
    rounds: int = 160
    learning_rate: float = 0.06
    leaves: int = 24
    smallest_leaf: int = 30
    l2: float = 20.0
    columns: tuple[str, ...] = FEATURES


@dataclass(frozen=True)
class Quality:
    """Measured on held-back links: recall at AT of all hidden links, precision where half of them are found (None if
    never), and counts of what was trained on."""

    recall_at_10: float
    precision_at_half: float | None
    hidden: int
    found: int
    pairs: int
    accepted: int
    rejected: int


@dataclass(frozen=True)
class Calibration:
    """Isotonic steps from raw scores to probabilities: `score` rises, float64 [k], `probability` never falls."""

    score: NDArray[np.float64]
    probability: NDArray[np.float64]

    @classmethod
    def learned(cls, raw: NDArray[np.float64], right: NDArray[np.bool_]) -> Calibration:
        from sklearn.isotonic import IsotonicRegression  # takes a second; few processes learn

        steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(raw, right)
        return cls(steps.X_thresholds_, steps.y_thresholds_)

    def of(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between two steps on the line from the one to the other, beyond them all as at the last."""
        return np.interp(raw, self.score, self.probability)


@dataclass(frozen=True)
class TrainedScorer(Scorer):
    """`models`, one a fold, a calibration from their mean to a probability, and their measured quality."""

    models: tuple[Any, ...]
    calibration: Calibration
    quality: Quality
    columns: tuple[str, ...] = FEATURES
    version: str = VERSION
    knows_site: ClassVar = True
    places: NDArray[np.int64] = field(default_factory=lambda: np.arange(len(FEATURES)))

    def quick(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The first model's log-odds, float64 [m]: a quick reading."""
        if not len(features):
            return np.empty(0)
        return _read(self.models[0], self._read_by(features))

    def raw(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Mean of the models' log-odds, float64 [m]."""
        if not len(features):
            return np.empty(0)
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(partial(_read, features=self._read_by(features)), self.models))
        return np.asarray(np.round(np.mean(found, axis=0), 6), dtype=np.float64)

    def card(self) -> Card:
        """The whole of it, with what it was trained on."""
        return Card(self.quality.found, asdict(self.quality), self.gains(), self.to_bytes())

    def _read_by(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return features if self.columns == FEATURES else features[:, self.places]

    def gains(self) -> dict[str, float]:
        """How much each group of features gained in the trees, as shares that sum to 1, the largest first."""
        gain = sum(model.feature_importance("gain") for model in self.models)
        total = max(float(np.sum(gain)), 1e-12)
        by_name = dict(zip(self.columns, np.asarray(gain, dtype=np.float64).tolist(), strict=True))
        groups = {
            group: round(sum(by_name.get(name, 0.0) for name in features) / total, 4)
            for group, features in GROUPS.items()
        }
        return dict(sorted(groups.items(), key=lambda item: -item[1]))

    def to_bytes(self) -> bytes:
        """The whole ranker, compressed, for safekeeping; `from_bytes` reads it."""
        kept = {
            "version": self.version,
            "columns": self.columns,
            "models": [model.model_to_string() for model in self.models],
            "calibration": [self.calibration.score.tolist(), self.calibration.probability.tolist()],
            "quality": asdict(self.quality),
        }
        return zlib.compress(json.dumps(kept).encode())

    @classmethod
    def from_bytes(cls, kept: bytes) -> TrainedScorer:
        """The ranker that `to_bytes` kept. Raises KeyError where it learned from features that are no more."""
        values = json.loads(zlib.decompress(kept))
        calibration = Calibration(*(np.array(part, dtype=np.float64) for part in values["calibration"]))
        columns = tuple(values["columns"])
        gone = [name for name in columns if name not in FEATURES]
        if gone:
            raise KeyError(f"features that are no more: {', '.join(gone)}")
        return cls(
            tuple(lightgbm.Booster(model_str=text) for text in values["models"]),
            calibration,
            Quality(**values["quality"]),
            columns,
            values["version"],
            np.array([FEATURES.index(name) for name in columns]),
        )

    def probability(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated probability of raw scores [m], float64 [m] in [0, 1]; never falls as the raw score rises."""
        return calibrated(self.calibration, raw)


def _read(model: lightgbm.Booster, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """The model's log-odds, float64 [m]."""
    return np.asarray(model.predict(features, raw_score=True, num_threads=1))


def calibrated(calibration: Calibration, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Isotonic steps for raw scores [m], tilted by the raw score within a step so that no two different scores are
    equal; float64 [m] in [0, 1]."""
    if not len(raw):
        return np.empty(0)
    steps = calibration.of(raw)
    tilt = 1e-4 / (1 + np.exp(-np.clip(raw, -30, 30)))
    probability: NDArray[np.float64] = np.clip(steps * (1 - 1e-4) + tilt, 0, 1)
    return probability


def folds_of(source: NDArray[np.int64], pages: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The group of each pair, int64 [m]: that of its source, or where the sources are too few for that (all links stand
    on one page, say) one of its own."""
    random = np.random.default_rng(seed)
    groups: NDArray[np.int64] = (random.permutation(pages) % folds)[source]
    if len(np.unique(groups)) < folds:
        groups = random.permutation(len(source)) % folds
    return groups


def train(
    index: SiteIndex,
    options: TrainOptions | None = None,
    generators: Collection[str] = (),
    progress: Progress = no_progress,
) -> TrainedScorer | None:
    """A ranker for the site, or None where it has too few labels to learn from."""
    options = options or TrainOptions()
    if not len(index.site.links) and not len(index.site.accepted):
        return None
    data = training_set(index, options, generators, progress)
    return fit(data, len(index.site), options, index.limits.examples)


def fit(data: TrainingSet, pages: int, options: TrainOptions, at_a_time: int = Limits.examples) -> TrainedScorer | None:
    """Trains on a training set; None with fewer than `options.min_labels` positive labels."""
    if int(data.label.sum()) < options.min_labels or data.label.all():
        return None
    groups = folds_of(data.pairs.source, pages, options.folds, options.seed)
    places = np.array([FEATURES.index(name) for name in options.columns])
    every = options.columns == FEATURES
    rng = np.random.default_rng(options.seed)
    drawn = data.label | (rng.random(len(data.label)) < options.negatives)
    weight = np.where(data.label, 1.0, 1.0 / options.negatives).astype(np.float32) * data.weight

    reading = Lock()  # one at a time: examples as they are read take many times the room of what trees are grown on

    def read(wanted: slice | NDArray[np.bool_]) -> NDArray[np.float32]:
        rows = data.features[wanted]
        return rows if every else rows[:, places]

    def without(number: int) -> tuple[lightgbm.Booster, NDArray[np.float64]]:
        """The model of all groups but one, and what it says of that one."""
        inside = groups != number
        chosen = inside & drawn
        leaves = int(np.clip(data.label[chosen].sum() // LABELS_A_LEAF, MIN_LEAVES, max(options.leaves, MIN_LEAVES)))
        grown = replace(options, leaves=leaves, seed=options.seed + number)
        with reading:
            examples = _examples(read(chosen), data.label[chosen], weight[chosen], grown)
        model = lightgbm.train(_of_trees(grown), examples, num_boost_round=grown.rounds)
        del examples
        said = [np.empty(0)]
        for part in slices(len(inside), at_a_time):
            left_out = read(part)[~inside[part]]
            if len(left_out):
                said.append(_read(model, left_out))
        return model, np.concatenate(said)

    held_back = np.empty(len(data.label))
    models = []
    with ThreadPoolExecutor(options.threads) as pool:
        for number, (model, said) in enumerate(pool.map(without, range(options.folds))):
            models.append(model)
            held_back[groups == number] = said
    calibration = Calibration.learned(held_back, data.label)
    quality = _quality(data, held_back, pages, options)
    return TrainedScorer(tuple(models), calibration, quality, options.columns, VERSION, places)


def _examples(
    features: NDArray[np.float32], label: NDArray[np.bool_], weight: NDArray[np.float32], options: TrainOptions
) -> lightgbm.Dataset:
    """The examples as trees are grown on them, a byte a number; `features` are not held on to."""
    found = lightgbm.Dataset(features, label.astype(np.float32), weight=weight, params=_of_trees(options))
    return found.construct()


def _of_trees(options: TrainOptions) -> dict[str, Any]:
    return {
        "objective": "binary",
        "learning_rate": options.learning_rate,
        "num_leaves": options.leaves,
        "min_data_in_leaf": options.smallest_leaf,
        "lambda_l2": options.l2,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "seed": options.seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
    }


def _quality(data: TrainingSet, score: NDArray[np.float64], pages: int, options: TrainOptions) -> Quality:
    of_links = data.share < options.folds
    label, score, decided = data.label[of_links], score[of_links], data.label[~of_links]
    source = data.share[of_links] * pages + data.pairs.source[of_links]
    order = np.lexsort((data.pairs.target[of_links], -score, source))
    rank = np.arange(len(order)) - np.searchsorted(source[order], source[order])
    at_ten = int(label[order][rank < AT].sum())
    by_score = np.argsort(-score, kind="stable")
    right = np.cumsum(label[by_score])
    half = np.flatnonzero(right >= 0.5 * max(data.hidden, 1))
    precision = float(right[half[0]] / (half[0] + 1)) if len(half) else None
    return Quality(
        round(at_ten / max(data.hidden, 1), 4),
        None if precision is None else round(precision, 4),
        data.hidden,
        int(label.sum()),
        len(label),
        int(decided.sum()),
        data.rejected,
    )
