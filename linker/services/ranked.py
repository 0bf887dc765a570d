"""A match run by the learned ranking: the site as arrays, the engine, places in the text, edges."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker import runs, store
from linker.anchors.placement import Page as Placing
from linker.errors import UserError
from linker.matching.params import MatchParams
from linker.models import EmbeddingModel, Project, Run
from linker.ranking.engine import EngineOptions, Ranked, anchor_choices, rank_site
from linker.ranking.site import Links, Pairs, Site
from linker.services.eligibility import Eligible, eligible_pages
from linker.services.embed import embedding_model
from linker.services.finish import store_found
from linker.services.match import category_nodes, nobody
from linker.store import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linker.runs import Progress
    from linker.services.finish import PhraseFinder


@dataclass(frozen=True)
class _Loaded:
    """The engine's site and the page ids that its positions stand for, int64 [n]."""

    site: Site
    ids: NDArray[np.int64]


def run_ranked(run: Run, progress: Progress = runs.no_progress) -> dict[str, Any]:
    """Ranks the whole site, gives the links out under the caps, finds their places and stores them.

    Raises UserError where nobody may give or receive a link.
    """
    started = time.monotonic()
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, 0, "Reading the site")
    model = embedding_model(project)
    Run.objects.filter(pk=run.pk).update(model=model)
    run.model = model
    eligible = eligible_pages(project, model, params)
    if not eligible.chosen_donor.any() or not eligible.chosen_target.any():
        side = "donor" if not eligible.chosen_donor.any() else "acceptor"
        raise UserError(nobody(eligible, side))
    loaded = _load(project, model, eligible)
    ranked = rank_site(loaded.site, EngineOptions(pool=params.pool), progress)
    score = ranked.probability if ranked.ranker == "learned" else np.clip(ranked.score, 0.0, 1.0)
    score = np.round(score, 6)
    kept = np.flatnonzero(score >= params.threshold)
    rows = _rows(loaded, ranked, kept, score[kept])
    return store_found(
        run,
        rows,
        progress,
        generator=ranked.ranker,
        in_text=_phrase_finder(loaded, ranked, kept),
        extra={
            "donors": int(eligible.chosen_donor.sum()),
            "acceptors": int(eligible.chosen_target.sum()),
            "left_out": eligible.left_out,
            "ranker": f"{ranked.ranker} {ranked.version}",
            "quality": asdict(ranked.quality) if ranked.quality else {},
            "seconds": round(time.monotonic() - started, 1),
        },
    )


def _rows(loaded: _Loaded, ranked: Ranked, kept: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[Any]:
    """The pairs as store_found wants them."""
    site = loaded.site
    donor, target = ranked.pairs.donor[kept], ranked.pairs.target[kept]
    similarity = np.einsum("ij,ij->i", site.unit[donor], site.unit[target], dtype=np.float64)
    kinds = [
        ("source", "i8"),
        ("target", "i8"),
        ("block", "i4"),
        ("level", "i2"),
        ("similarity", "f8"),
        ("score", "f8"),
    ]
    rows = np.empty(len(kept), dtype=kinds)
    rows["source"], rows["target"] = loaded.ids[donor], loaded.ids[target]
    rows["block"], rows["level"] = -1, _levels(site, donor, target)
    rows["similarity"], rows["score"] = np.round(np.clip(similarity, -1.0, 1.0), 6), score
    return rows


def _phrase_finder(loaded: _Loaded, ranked: Ranked, kept: NDArray[np.int64]) -> PhraseFinder:
    """Finds the words of a donor's text that become the link, no two links on the same words."""
    site = loaded.site
    donor, target = ranked.pairs.donor[kept], ranked.pairs.target[kept]
    choices = anchor_choices(ranked.evidence, donor, target)
    phrases = dict(zip(zip(loaded.ids[donor].tolist(), loaded.ids[target].tolist(), strict=True), choices, strict=True))
    linked = defaultdict(list)
    for place, anchor in zip(site.links.src.tolist(), site.links.anchors, strict=True):
        linked[int(loaded.ids[place])].append(anchor)
    bodies = dict(zip(loaded.ids.tolist(), site.bodies, strict=True))
    placing: dict[int, Placing] = {}

    def find(source: int, target: int, worn_out: Callable[[str], bool]) -> tuple[str, str, list[dict[str, str]]] | None:
        if source not in placing:
            placing[source] = Placing(bodies[source], linked[source])
        fresh = sorted(phrases[source, target], key=lambda choice: worn_out(choice.text))
        found = placing[source].take([(choice.text, choice.source, choice.weight) for choice in fresh], ("", ""))
        if found.place is None:
            return None
        others = [{"text": other.anchor, "source": other.source, "raw": other.anchor} for other in found.others]
        return found.anchor, found.source, others

    return find


def _load(project: Project, model: EmbeddingModel, eligible: Eligible) -> _Loaded:
    ids = eligible.ids
    vectors = store.load_vectors(model.pk, model.dimensions, ids)
    nodes = category_nodes(project)
    texts: list[tuple[str, str, str, str, str]] = [("", "", "", "", "")] * len(ids)
    impressions = np.zeros(len(ids))
    for page, url, title, h1, body, language, shown in stream(
        "texts",
        "SELECT id, url, title, h1, body, language, coalesce(impressions, 0) FROM linker_page WHERE id = ANY(%s)",
        [ids.tolist()],
        size=500,
    ):
        place = int(np.searchsorted(ids, page))
        texts[place] = (url, title, h1, body, language)
        impressions[place] = shown
    urls, titles, h1s, bodies, languages = (list(column) for column in zip(*texts, strict=True))
    source, target, anchors = _links(project, ids)
    return _Loaded(
        Site(
            urls=urls,
            titles=titles,
            h1s=h1s,
            bodies=bodies,
            languages=languages,
            unit=vectors.take(ids),
            nodes=nodes.of(eligible.categories),
            tree=nodes.tree,
            links=Links(source, target, anchors),
            donor=eligible.chosen_donor,
            target=eligible.chosen_target,
            accepted=_decided(project, ids, ["accepted", "exported"]),
            rejected=_decided(project, ids, ["rejected"]),
            impressions=impressions if impressions.any() else None,
        ),
        ids,
    )


def _links(project: Project, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """Body links between the pages, as positions, with their anchors."""
    rows = list(
        stream(
            "links",
            "SELECT source_id, target_id, anchor FROM linker_existinglink WHERE project_id = %s AND in_body "
            "AND missing_since IS NULL ORDER BY source_id, target_id, id",
            [project.pk],
        )
    )
    source = np.array([row[0] for row in rows], dtype=np.int64)
    target = np.array([row[1] for row in rows], dtype=np.int64)
    known = np.isin(source, ids) & np.isin(target, ids) & (source != target)
    anchors = [rows[place][2] for place in np.flatnonzero(known).tolist()]
    return np.searchsorted(ids, source[known]), np.searchsorted(ids, target[known]), anchors


def _decided(project: Project, ids: NDArray[np.int64], statuses: list[str]) -> Pairs:
    rows = store.copy_out(
        "SELECT source_id, target_id FROM linker_candidateedge WHERE project_id = %s AND status = ANY(%s)",
        [project.pk, statuses],
        [("source", ">i8"), ("target", ">i8")],
    )
    source, target = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
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
