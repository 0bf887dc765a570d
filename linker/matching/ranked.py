"""A match run by a ranker or the formula: the site as arrays, the engine, edges."""

from __future__ import annotations

import sys
import time
from array import array
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.embedding.service import embedding_model
from linker.engine.arrays.disk import DiskTexts
from linker.engine.arrays.vectors import HalfVectors, slices
from linker.engine.graph.links import repeated_links
from linker.engine.params import MatchParams
from linker.engine.ranking.approval import GOOD_WORDS
from linker.engine.ranking.formula_score import FormulaWeights
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.ranked import Ranked
from linker.engine.ranking.rankers.base import CandidateRanker, Card
from linker.engine.ranking.rankers.registry import ranker_of
from linker.engine.site import Links, Pairs, Site, checked
from linker.engine.text.model_languages import can_read
from linker.errors import UserError
from linker.matching.category_nodes import category_nodes
from linker.matching.copies import find_copies, load_twins
from linker.matching.eligibility import Eligible, eligible_pages, no_eligible_pages_message
from linker.matching.finish import save_match_result
from linker.matching.known_answers import KnownPairs, draw_known
from linker.matching.lessons import (
    OF_THE_PAIR,
    STATED,
    TRAITS,
    calibration_of,
    decisions,
    kind_lessons,
    lesson_of,
    open_links,
    pairs_left_aside,
)
from linker.matching.page_marks import marks_of
from linker.matching.pilots import limited_to_pilot
from linker.matching.ranking_sayings import FEW_AMONG_CANDIDATES
from linker.matching.replacing import scored, standing_links
from linker.matching.report import approval_report, begun_report
from linker.matching.result import FOUND, MatchResult
from linker.models import EmbeddingModel, Project, Ranker, Run
from linker.models.linked import TEXT_LINK
from linker.models.querysets import APPROVED, sql
from linker.models.suppression import freed_sql
from linker.pages.languages import language_ids, trusts_crawl
from linker.storage.copy import copy_out
from linker.storage.cursors import stream
from linker.storage.pairs import load_pairs_of_sections
from linker.storage.vectors import load_half_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.choice import AnchorChoice
    from linker.engine.ranking.calibration import Calibration
    from linker.matching.replacing import StandingLinks
    from linker.matching.report_types import MatchReport
    from linker.runs.lifecycle import Progress


@dataclass(frozen=True)
class Loaded:
    """The engine's site, the page ids that its positions stand for, int64 [n], and how many of the donors asked about
    have a text."""

    site: Site
    ids: NDArray[np.int64]
    with_text: int


def run_ranked(run: Run, ranking: str, reason: str, progress: Progress) -> MatchReport:
    """Ranks the whole site, allocates links under the caps, finds their places and stores them.

    `ranking` names a ranker of candidates; one that learns falls back where too few links are among them. `reason` says
    why. Raises UserError where no page may give or receive a link, or a weight of the formula is unknown.
    """
    started = time.monotonic()
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, 0, "Reading the site")
    model = embedding_model(project)
    Run.objects.filter(pk=run.pk).update(model=model)
    run.model = model
    eligible = limited_to_pilot(run, params, eligible_pages(project, model, params))
    if message := no_eligible_pages_message(eligible):
        raise UserError(message)
    copies = find_copies(run, eligible, progress)
    decided = decisions(project)
    lesson = lesson_of(project, decided, open_links(project))
    ranker = ranker_of(ranking)
    if not isinstance(ranker, CandidateRanker):
        raise TypeError(f"{ranking} does not rank candidates")
    options = engine_options(params, ranking, eligible, calibration_of(project, lesson, eligible))
    links = standing_links(project, params)
    loaded = with_standing(_loaded(run, model, eligible, ranking, params), links)
    marks = marks_of(loaded.site, loaded.ids) if params.is_of_whole_site else None
    ranked, rows, known, acceptors, texts = _ranked(loaded, ranker, options, progress)
    links = scored(links, loaded.ids, ranked.standing)
    del loaded
    if marks is not None and ranked.nearness is not None:
        marks = replace(marks, nearness=ranked.nearness.astype(np.float32), runs=np.full(len(marks.ids), run.pk))
    if ranked.ranker != ranking:
        reason = FEW_AMONG_CANDIDATES.said()
    return save_match_result(
        run,
        MatchResult(
            rows,
            ranked.ranker,
            lambda row: why_of(ranked, row["place"]),
            FoundWords(ranked),
            _ranker(ranked, options),
            replace(
                begun_report(
                    project,
                    model,
                    eligible,
                    acceptors=int(eligible.chosen_target.sum()),
                    other_language=ranked.other_language,
                ),
                ranked_why=reason,
                approval=approval_report(options, decided, kind_lessons(lesson, decided), lesson.acceptors),
                donors_with_text=texts,
                copies=copies,
                seconds=round(time.monotonic() - started, 1),
            ),
            acceptors=acceptors,
            known=known,
            marks=marks,
            standing=links,
        ),
        progress,
    )


def engine_options(params: MatchParams, ranking: str, eligible: Eligible, calibration: Calibration) -> EngineOptions:
    """How the engine ranks the chosen donors of a run by `ranking`."""
    return EngineOptions(
        ranking=ranking,
        otherwise=params.without_links,
        generators=params.generators,
        pool=_pool(params, int(eligible.chosen_donor.sum())),
        least_score=params.floor(ranking),
        worded=params.per_donor,
        weights=_weights(params.weights),
        calibration=calibration,
    )


def with_standing(loaded: Loaded, links: StandingLinks) -> Loaded:
    """The site, with those of the links as its standing pairs whose source is looked at."""
    pairs, site = _as_positions(loaded.ids, links.source, links.target), loaded.site
    looked_at = site.source if site.selected is None else site.selected
    kept = looked_at[pairs.src] & site.target[pairs.dst]
    return replace(loaded, site=replace(site, standing=Pairs(pairs.src[kept], pairs.dst[kept])))


def _loaded(run: Run, model: EmbeddingModel, eligible: Eligible, ranking: str, params: MatchParams) -> Loaded:
    """The site; where the project shows cards whose answer is known and the run is over all pages, with links that are
    also ranked as if they were not there."""
    project = run.project
    loaded = load_site(project, model, eligible, params.levels(ranking))
    if not project.known_share or not params.is_of_whole_site:
        return loaded
    return replace(loaded, site=replace(loaded.site, known=draw_known(project, loaded.site, loaded.ids)))


def _ranked(
    loaded: Loaded, ranker: CandidateRanker, options: EngineOptions, progress: Progress
) -> tuple[Ranked, NDArray[Any], KnownPairs | None, NDArray[np.int64], int]:
    """The ranked pairs, also as rows of FOUND, what was said of the known ones, the acceptors, and how many donors have
    a text. The vectors are freed with `loaded`."""
    ranked = ranker.rank(checked(loaded.site), options, progress)
    return (
        ranked,
        rows_of(loaded, ranked),
        _known(loaded, ranked.known),
        loaded.ids[loaded.site.target],
        loaded.with_text,
    )


def _known(loaded: Loaded, known: Ranked | None) -> KnownPairs | None:
    if known is None:
        return None
    rows = rows_of(loaded, known)
    return KnownPairs(rows, known.anchor_choices(rows["place"].astype(np.int64)), partial(why_of, known))


# Donors above which no more candidates are kept than a donor may need: those of all of them lie in memory at the end.
MANY_DONORS, SPARE = 50_000, 5


def _pool(params: MatchParams, donors: int) -> int:
    """Candidates kept a donor."""
    return params.pool if donors <= MANY_DONORS else min(params.pool, params.per_donor + SPARE)


def _weights(changed: dict[str, float]) -> FormulaWeights:
    unknown = sorted(set(changed) - set(FormulaWeights.__dataclass_fields__))
    if unknown:
        raise UserError(f"The formula has no part {', '.join(unknown)}. Check the formula's weights in the settings.")
    return FormulaWeights(**changed)


def why_of(ranked: Ranked, place: int) -> tuple[str, dict[str, float]]:
    """Why a pair is suggested, and the numbers behind it."""
    why = ranked.why(place)
    return why.sentence, why.numbers | {STATED: float(ranked.uncalibrated[place]), TRAITS: int(ranked.near[place])}


def _ranker(ranked: Ranked, options: EngineOptions) -> Ranker:
    """What is kept of the ranker with the run."""
    card = ranked.scorer.card() if ranked.scorer else Card(weights=asdict(options.weights))
    return Ranker(
        kind=ranked.ranker,
        version=ranked.version,
        labels=card.labels,
        quality=card.quality,
        weights=card.weights,
        model=card.model,
        words=ranked.anchors.to_bytes() if ranked.anchors else b"",
    )


def rows_of(loaded: Loaded, ranked: Ranked) -> NDArray[Any]:
    """The pairs as rows of FOUND, scored by their turn. Those below are at the end, with no more than their score."""
    site, below = loaded.site, ranked.below
    rows = np.empty(len(ranked) + len(below.value), dtype=FOUND)
    rows["block"], rows["level"], rows["similarity"], rows["probability"], rows["place"] = -1, 0, 0, np.nan, -1
    rows["beside"] = np.nan
    for part in slices(len(ranked)):
        donor, target, found = ranked.pairs.source[part], ranked.pairs.target[part], rows[part]
        found["source"], found["target"], found["level"] = (
            loaded.ids[donor],
            loaded.ids[target],
            _levels(site, donor, target),
        )
        similarity = np.einsum("ij,ij->i", site.unit[donor], site.unit[target], dtype=np.float64)
        found["similarity"] = np.round(np.clip(similarity, -1.0, 1.0), 6)
        found["score"], found["probability"] = ranked.allocation_score[part], ranked.probability[part]
        found["beside"] = ranked.beside[part]
        found["found"], found["place"] = ranked.pairs.found[part], np.arange(part.start, part.stop)
    rest = rows[len(ranked) :]
    rest["source"], rest["target"], rest["score"] = loaded.ids[below.source], loaded.ids[below.target], below.value
    rest["found"] = 0
    return rows


class FoundWords:
    """Words of a donor's text that mean a target, from the engine."""

    def __init__(self, ranked: Ranked) -> None:
        self.ranked = ranked
        self.least = GOOD_WORDS
        self.template = ranked.index.template
        self.choices: dict[tuple[int, int], list[AnchorChoice]] = {}

    def read(self, rows: NDArray[Any]) -> None:
        pairs = zip(rows["source"].tolist(), rows["target"].tolist(), strict=True)
        choices = self.ranked.anchor_choices(rows["place"].astype(np.int64))
        self.choices = dict(zip(pairs, choices, strict=True))

    def of(self, source: int, target: int) -> list[tuple[str, str, float]]:
        choices = self.choices.get((source, target), [])
        return [(choice.text, choice.source, choice.weight) for choice in choices]

    def starts(self, source: int, target: int) -> dict[str, int]:
        """Where each of them would best become the link."""
        return {choice.text: choice.start for choice in self.choices.get((source, target), [])}

    def traits(self, source: int, target: int) -> dict[str, int]:
        """The traits of each of them; see `linker.engine.anchors.word_traits`."""
        return {choice.text: choice.traits for choice in self.choices.get((source, target), [])}


TEXTS_AT_A_TIME = 500
_GONE = (0, "", "", "", "", "", 0)  # a page that was deleted since


def load_site(project: Project, model: EmbeddingModel, eligible: Eligible, levels_up: int | None = None) -> Loaded:
    """The site as the engine reads it. The ranker learns from all possible donors and ranks for the chosen ones."""
    ids = eligible.ids
    nodes = category_nodes(project)
    columns = urls, titles, h1s, bodies = DiskTexts(), DiskTexts(), DiskTexts(), DiskTexts()
    languages: list[str] = []
    with_text = 0
    impressions = np.zeros(len(ids))
    for part in slices(len(ids), TEXTS_AT_A_TIME):
        known = {
            row[0]: row
            for row in stream(
                "texts",
                "SELECT id, url, title, h1, body, own_language, coalesce(impressions, 0) FROM linker_page "
                "WHERE id = ANY(%s)",
                [ids[part].tolist()],
                size=TEXTS_AT_A_TIME + 1,
            )
        }
        rows = [known.get(page, _GONE) for page in ids[part].tolist()]
        for place, texts in enumerate(columns, 1):
            texts.extend(row[place] for row in rows)
        asked = eligible.chosen_donor[part].tolist()
        with_text += sum(bool(row[4]) for row, donor in zip(rows, asked, strict=True) if donor)
        languages += [sys.intern(row[5]) for row in rows]
        impressions[part] = [row[6] for row in rows]
    links, repeated = _links(project, ids)
    rejected, aside = _apart(_decided(project, ids, f"{_REJECTED} AND {OF_THE_PAIR}"), _left_aside(project, ids))
    refused = _decided(project, ids, f"status = 'withdrawn' OR {_REJECTED} AND NOT {OF_THE_PAIR}")
    of_sections = _as_positions(ids, *load_pairs_of_sections(project.pk))
    twins = load_twins(project, ids)
    return Loaded(
        Site(
            urls=urls,
            titles=titles,
            h1s=h1s,
            bodies=bodies,
            languages=languages,
            unit=HalfVectors(_vectors(model, ids, languages)),
            nodes=nodes.of(eligible.categories),
            tree=nodes.tree,
            links=links,
            source=eligible.is_donor & twins.gives,
            target=eligible.chosen_target & twins.receives,
            forbidden=Pairs(
                *(
                    np.concatenate(sides)
                    for sides in zip(
                        *((part.src, part.dst) for part in (refused, aside, repeated, of_sections)), strict=True
                    )
                )
            ),
            accepted=_decided(project, ids, sql(APPROVED)),
            rejected=rejected,
            impressions=impressions if impressions.any() else None,
            selected=eligible.chosen_donor & twins.gives,
            levels_up=levels_up,
            language_ids=None if project.link_languages else language_ids(project, ids, trusted=trusts_crawl(project)),
            group=twins.group if (twins.group >= 0).any() else None,
        ),
        ids,
        with_text,
    )


def _vectors(model: EmbeddingModel, ids: NDArray[np.int64], languages: list[str]) -> NDArray[Any]:
    """The vectors of pages, float16 [n, d]; 0 where the model cannot read the page: what it makes of Chinese, if it
    has learned English alone, is alike and unlike by chance. Imported vectors are taken as they are."""
    half = load_half_vectors(model.pk, model.dimensions, ids)
    if model.project_id is None:
        unread = {language for language in set(languages) if not can_read(model.name, language)}
        half[[place for place, language in enumerate(languages) if language in unread]] = 0
    return half


def _links(project: Project, ids: NDArray[np.int64]) -> tuple[Links, Pairs]:
    """Body links between the pages, as positions: those that say what belongs together, and calls to act that are on
    page after page."""
    sources, targets, words = array("q"), array("q"), array("q")
    once: dict[str, int] = {}  # most anchors are there many times
    for source, target, anchor in stream(
        "links",
        f"SELECT source_id, target_id, anchor FROM linker_existinglink WHERE project_id = %s "
        f"AND {sql(TEXT_LINK)} AND source_id <> target_id ORDER BY source_id, target_id, id",
        [project.pk],
    ):
        sources.append(source)
        targets.append(target)
        words.append(once.setdefault(anchor, len(once)))
    source, target, word = (np.array(column, dtype=np.int64) for column in (sources, targets, words))
    anchors = list(once)
    known = np.isin(source, ids) & np.isin(target, ids)
    source, target, word = np.searchsorted(ids, source[known]), np.searchsorted(ids, target[known]), word[known]
    repeated = repeated_links(source, target, word)
    own = ~repeated
    return (
        Links(source[own], target[own], [anchors[number] for number in word[own].tolist()]),
        Pairs(source[repeated], target[repeated]),
    )


_REJECTED = f"status = 'rejected' AND NOT {freed_sql('linker_candidateedge')}"


def _decided(project: Project, ids: NDArray[np.int64], which: str) -> Pairs:
    """Pairs that a person decided on; what left unreviewed says nothing of what editors think."""
    rows = copy_out(
        f"SELECT source_id, target_id FROM linker_candidateedge WHERE project_id = %s AND reviewed AND ({which})",
        [project.pk],
        [("source", ">i8"), ("target", ">i8")],
    )
    return _as_positions(ids, rows["source"].astype(np.int64), rows["target"].astype(np.int64))


def _left_aside(project: Project, ids: NDArray[np.int64]) -> Pairs:
    rows = pairs_left_aside(project)
    return _as_positions(ids, rows["source"].astype(np.int64), rows["target"].astype(np.int64))


def _apart(pairs: Pairs, others: Pairs) -> tuple[Pairs, Pairs]:
    """The pairs that are not among the others, and those that are."""
    pages = 1 + max((int(side.max()) for side in (pairs.dst, others.dst) if len(side)), default=0)
    is_other = np.isin(pairs.src * pages + pairs.dst, others.src * pages + others.dst)
    return (
        Pairs(pairs.src[~is_other], pairs.dst[~is_other]),
        Pairs(pairs.src[is_other], pairs.dst[is_other]),
    )


def _as_positions(ids: NDArray[np.int64], source: NDArray[np.int64], target: NDArray[np.int64]) -> Pairs:
    """Those of the pairs whose pages are both among `ids`, as positions there."""
    known = np.isin(source, ids) & np.isin(target, ids)
    return Pairs(np.searchsorted(ids, source[known]), np.searchsorted(ids, target[known]))


def _levels(site: Site, donor: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
    """Levels up from each donor's category to the first whose subtree holds the target; 0 in the same category."""
    tree, goal = site.tree, site.tree.enter[site.nodes[target]]
    top = site.nodes[donor]
    level = np.where(site.nodes[donor] == site.nodes[target], 0, -1)
    step = 0
    while (level < 0).any():
        step += 1
        top = tree.parent[top]
        level[(level < 0) & (tree.enter[top] <= goal) & (goal < tree.leave[top])] = step
    return level
