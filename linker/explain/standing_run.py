"""Reads: what the match run that stands made of a pair that it does not propose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.engine.allocation.allocate import Reason
from linker.engine.arrays.vectors import unit_rows
from linker.engine.candidates.block_search import Side as Pages
from linker.engine.candidates.block_search import search
from linker.engine.params import MatchParams, Ranking
from linker.explain.findings import Finding
from linker.explain.left_out import Compared, RunPair, below_floor, left_out, not_kept, ranking_of
from linker.explain.wording import score_text
from linker.matching.category_nodes import category_nodes
from linker.models import CandidateEdge, PageEmbedding, Run, RunKind, RunStatus, UnallocatedPairs
from linker.reports.params import levels_up
from linker.wording import decimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.explain.context import WhyNotContext
    from linker.models import Page

FURTHEST = 20  # levels up that a run may look, linker.engine.params


def made_of_pair(context: WhyNotContext, run: Run, donor: Page, acceptor: Page, *, final: bool) -> Iterator[Finding]:
    """What the run made of the pair.

    `final`: nothing else keeps the suggestion away, so that the run must have a reason; else only what it recorded,
    or what follows from the vectors, is said.
    """
    compared = _compared(context, donor, acceptor)
    recorded = UnallocatedPairs.objects.filter(run=run, source=donor.pk).first()
    if recorded is not None and acceptor.pk in recorded.targets:
        place = recorded.targets.index(acceptor.pk)
        pair = RunPair(context, run, donor, acceptor, recorded.scores[place], compared)
        yield left_out(pair, Reason(recorded.reasons[place]))
    elif compared is not None and _is_outside(context, run, compared):
        yield _too_far(context, run, compared)
        if ranking_of(run, context.params) == Ranking.COSINE:
            yield from _by_cosine(context, run, donor, acceptor, compared, final=False)
    elif ranking_of(run, context.params) == Ranking.COSINE:
        if compared is not None:
            yield from _by_cosine(context, run, donor, acceptor, compared, final=final)
    elif final:
        yield _not_a_candidate(context, run, donor, recorded, compared)
    if final:
        yield from _imports_since(context, run)


def _not_a_candidate(
    context: WhyNotContext, run: Run, donor: Page, recorded: UnallocatedPairs | None, compared: Compared | None
) -> Finding:
    alike = f" {_similarity(compared)}" if compared is not None else ""
    if not context.is_newest:
        return Finding(
            "not-kept",
            _(
                "The %(run)s did not propose it. What it found and left out is not kept, since a newer run has come "
                "after it."
            )
            % {"run": context.run_name}
            + alike,
            _("Take the newest run again to see what it made of the pair, or match again."),
            context.link(_("Match runs"), "kept_runs", manager=True),
        )
    found = CandidateEdge.objects.filter(run=run, source=donor).count()
    found += len(recorded.targets) if recorded is not None else 0
    return Finding(
        "not-a-candidate",
        _("It was not among the %(found)s candidates of this donor that the %(run)s kept.")
        % {"found": found, "run": context.run_name}
        + alike,
        _("To make it one, add a sentence that names the acceptor to the donor’s text, or allow more links a page."),
        context.match_again(),
    )


def _imports_since(context: WhyNotContext, run: Run) -> Iterator[Finding]:
    kinds = [RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS, RunKind.EMBED]
    later = Run.objects.filter(
        project=context.project,
        kind__in=kinds,
        status=RunStatus.SUCCEEDED,
        finished_at__gt=run.started_at or run.created_at,
    )
    last = later.order_by("-finished_at").defer("params", "report").first()
    if last is not None:
        yield Finding(
            "imported-since",
            _(
                "“%(kind)s” (run %(later)d) finished after the %(run)s began, so its results are not in the "
                "suggestions yet."
            )
            % {"kind": last.get_kind_display(), "later": last.pk, "run": context.run_name},
            _("Match again."),
            context.match_again(),
            blocking=False,
        )


def _compared(context: WhyNotContext, donor: Page, acceptor: Page) -> Compared | None:
    """The pair through the very search of a run, under the run's model; None where a vector is missing."""
    model = context.run.model if context.run else None
    if model is None:
        return None
    stored = dict(PageEmbedding.objects.filter(model=model, page__in=[donor, acceptor]).values_list("page", "vector"))
    if len(stored) < 2:
        return None
    nodes = category_nodes(context.project)
    places = nodes.of(np.array([donor.category_id or 0, acceptor.category_id or 0], dtype=np.int64))
    sides = [
        Pages(np.array([page.pk]), unit_rows(np.array([stored[page.pk]])), place[None])
        for page, place in zip((donor, acceptor), places, strict=True)
    ]
    nothing = np.empty(0, dtype=np.int64)
    level = int(nodes.tree.levels(places[:1], places[1:], FURTHEST)[0, 0])
    found = search(
        sides[0],
        [sides[1]],
        lambda left, right: np.zeros((len(left), len(right)), dtype=np.int8),
        (nothing, nothing),
        threshold=-2.0,
        level_penalty=0.0,
        pool=1,
    )
    similarity = float(found.similarity[0])
    return Compared(similarity, level, round(similarity - max(level, 0) * context.params.level_penalty, 6))


def _is_outside(context: WhyNotContext, run: Run, compared: Compared) -> bool:
    """Whether the acceptor is further from the donor's category than the run looked."""
    levels = context.params.levels(ranking_of(run, context.params))
    return levels is not None and not 0 <= compared.level <= levels


def _too_far(context: WhyNotContext, run: Run, compared: Compared) -> Finding:
    levels = context.params.levels_up
    looked = levels_up(levels) if levels else _("at %(scope)s") % {"scope": levels_up(levels)}
    far = levels_up(compared.level)
    if compared.level < 0:
        far = _("more than %(levels)d levels up") % {"levels": FURTHEST}
    text = _(
        "It is outside the run’s scope: the acceptor is %(far)s from the donor’s category, and the %(run)s looked "
        "%(looked)s."
    ) % {"far": far, "run": context.run_name, "looked": looked}
    return Finding(
        "too-far",
        f"{text} {_similarity(compared)}",
        _("Match again with more levels, or with the whole site as scope."),
        context.match_again(),
    )


def _similarity(compared: Compared) -> str:
    return _("Their similarity is %(similarity)s.") % {"similarity": score_text(compared.similarity)}


def _by_cosine(
    context: WhyNotContext, run: Run, donor: Page, acceptor: Page, compared: Compared, *, final: bool
) -> Iterator[Finding]:
    pair = RunPair(context, run, donor, acceptor, compared.score, compared)
    floor = context.params.floor(Ranking.COSINE)
    if compared.score < floor:
        yield below_floor(pair, floor, _sum(compared, context.params))
    elif final:
        yield not_kept(pair, _sum(compared, context.params))


def _sum(compared: Compared, params: MatchParams) -> str:
    """How the score came about, in the middle of a sentence and at its beginning."""
    similarity = score_text(compared.similarity)
    if not compared.level or not params.level_penalty:
        return _("Their similarity is %(similarity)s") % {"similarity": similarity}
    said = ngettext(
        "Their similarity is %(similarity)s, less %(off)s for %(levels)d level up the tree: %(score)s",
        "Their similarity is %(similarity)s, less %(off)s for %(levels)d levels up the tree: %(score)s",
        compared.level,
    )
    off = decimal(compared.level * params.level_penalty, 3)
    return said % {
        "similarity": similarity,
        "off": off,
        "levels": compared.level,
        "score": score_text(compared.score),
    }
