"""A match by the learned ranking finds links hidden from it, and stores them like any other."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from django.db.models import Count

from linker.embedding.service import embedding_model
from linker.engine.allocation.allocate import Reason
from linker.engine.params import MatchParams, Mode, Ranking, Scope
from linker.engine.ranking.approval import shipped
from linker.engine.ranking.boosted_trees import TrainedScorer
from linker.engine.ranking.choose import SUREST
from linker.engine.ranking.features import FEATURES
from linker.errors import UserError
from linker.matching.eligibility import eligible_pages
from linker.matching.ranked import load_site
from linker.matching.report_types import MatchReport
from linker.matching.tiers import retier
from linker.models import CandidateEdge, ExistingLink, UnallocatedPairs
from linker.reports.match_page import match_page
from linker.reports.params import param_rows
from linker.reports.words import report_rows
from tests.factories import make_category
from tests.guides import guides_once, match, project, site

if TYPE_CHECKING:
    from linker.engine.site import Pairs
    from linker.models import Run

pytestmark = pytest.mark.django_db

__all__ = ["guides_once", "project", "site"]


def test_hidden_links_come_back_with_the_words_of_the_text(project, site):
    _, hidden = site
    run = match(project)
    found = {(edge.source_id, edge.target_id): edge for edge in CandidateEdge.objects.filter(run=run)}
    back = [found[a.pk, b.pk] for a, b in hidden if (a.pk, b.pk) in found]
    assert len(back) >= 0.8 * len(hidden)
    assert sum(edge.anchor == edge.target.h1 for edge in back) >= 0.8 * len(back)
    assert run.report["ranking"] == "learned"
    assert run.ranker.quality["recall_at_10"] > 0.5
    assert run.ranker.labels == run.ranker.quality["found"] > 100
    assert run.status == "succeeded"
    for edge in found.values():
        assert 0 <= edge.score <= 1
        assert edge.ranked_by == "learned"
        assert edge.generators
        assert edge.why.endswith(".")
        assert edge.source_id != edge.target_id
    for donor in {edge.source_id for edge in found.values()}:
        mine = sorted((edge for edge in found.values() if edge.source_id == donor), key=lambda edge: -edge.score)
        assert all(edge.score == edge.probability for edge in mine[:SUREST])


@pytest.mark.nightly
def test_words_of_the_text_keep_to_the_projects_rules_for_anchors(project, site):
    _, hidden = site
    banned = {target.h1.lower() for _, target in hidden[:10]}
    project.banned_anchors, project.anchor_max_length = sorted(banned), 12
    project.save()
    match(project)
    edges = CandidateEdge.objects.all()
    said = [edge.anchor for edge in edges] + [other["text"] for edge in edges for other in edge.anchor_alternatives]
    assert len(said) > 100
    assert not banned & {text.lower() for text in said}
    assert max(map(len, said)) <= 12


@pytest.mark.nightly
def test_it_never_proposes_links_that_exist_or_were_rejected_and_repeats_itself(project, site):
    match(project)
    columns = ("source_id", "target_id", "score")
    rows = list(CandidateEdge.objects.order_by("source_id", "target_id").values_list(*columns))
    linked = set(project.pages.values_list("links_out__source_id", "links_out__target_id"))
    assert not linked & {(source, target) for source, target, _ in rows}
    again = match(project)
    assert again.report["new"] == 0
    repeated = CandidateEdge.objects.order_by("source_id", "target_id").values_list(*columns)
    assert list(repeated) == rows
    worst = CandidateEdge.objects.first()
    CandidateEdge.objects.filter(pk=worst.pk).update(status="rejected")
    third = match(project)
    assert not CandidateEdge.objects.filter(pk=worst.pk, run=third).exists()


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [Ranking.LEARNED, Ranking.FORMULA])
def test_a_scope_of_levels_holds_however_the_run_is_ranked_and_its_report_says_so(ranking, project, site):
    pages, _ = site
    for number, page in enumerate(pages):  # halves that have nothing to do with the topics
        page.category = make_category(project, "North" if number < 60 else "South")
        page.save(update_fields=["category"])
    run = match(project, ranking=ranking)
    outside = project.edges.filter(level__gt=0)
    assert outside.exists()
    assert (dict(report_rows(run))["Scope"], dict(param_rows(run))["Scope"]) == 2 * ("the whole site",)
    run = match(project, ranking=ranking, scope=Scope.LEVELS, levels_up=0)
    assert project.edges.filter(run=run).count() > 100
    assert not outside.filter(run=run).exists()
    assert dict(report_rows(run))["Scope"] == dict(param_rows(run))["Scope"] == "the donor’s own category only"


@pytest.mark.nightly
def test_caps_hold_and_nobody_to_link_is_said(project, site):
    match(project, inline_per_donor=1, related_per_donor=1, per_target=3, pool=10)
    sources = list(CandidateEdge.objects.filter(stale=False).values_list("source_id", flat=True))
    assert max(sources.count(page) for page in set(sources)) <= 2
    project.pages.update(indexable=False)
    with pytest.raises(UserError, match="No page can be a donor"):
        match(project)


def tier_counts(run: Run) -> dict[str, int]:
    report = MatchReport.from_json(run.report)
    counts = {tier.name: tier.links for tier in report.tiers} | {"below every tier": report.below_tiers}
    return {name: links for name, links in counts.items() if links}


READINGS = ("pk", "tier_id", "placement", "rel", "content_gap")


@pytest.mark.nightly
@pytest.mark.parametrize("basis", ["probability", "quantile", "cosine"])
def test_reading_the_tiers_again_changes_nothing_right_after_a_run(project, site, basis):
    type(project).objects.update(tier_basis=basis)
    project.refresh_from_db()
    run = match(project, inline_per_donor=1)
    before = list(CandidateEdge.objects.order_by("pk").values_list(*READINGS))
    counts = retier(project)
    assert list(CandidateEdge.objects.order_by("pk").values_list(*READINGS)) == before
    assert {name: count for name, count in counts.items() if count} == tier_counts(run)
    assert run.report["basis"] == basis
    assert sum(run.report["histogram"]) == run.report["edges"] == sum(run.report["placements"].values())
    inline = list(CandidateEdge.objects.filter(placement="inline").values_list("source_id", flat=True))
    assert inline
    assert len(inline) == len(set(inline))


@pytest.mark.nightly
def test_what_was_found_and_not_proposed_is_kept_with_the_reason_for_the_newest_run(project, site):
    match(project, inline_per_donor=1, related_per_donor=1, per_target=3, pool=10)
    run = match(project, inline_per_donor=1, related_per_donor=1, per_target=3, pool=10, threshold=0.5)
    assert set(UnallocatedPairs.objects.values_list("run_id", flat=True)) == {run.pk}
    proposed = set(CandidateEdge.objects.filter(run=run).values_list("source_id", "target_id"))
    reasons = set()
    for row in UnallocatedPairs.objects.all():
        for target, score, reason in zip(row.targets, row.scores, row.reasons, strict=True):
            assert (row.source, target) not in proposed
            assert (reason == Reason.BELOW_FLOOR) == (score < 0.5)
            reasons.add(Reason(reason))
    assert {Reason.BELOW_FLOOR, Reason.SOURCE_FULL} <= reasons


@pytest.mark.nightly
def test_the_ranker_that_is_kept_scores_as_the_one_that_ranked(project, site):
    run = match(project)
    kept = TrainedScorer.from_bytes(bytes(run.ranker.model))
    assert run.ranker.version == f"{kept.version}+{shipped().version}"
    assert asdict(kept.quality) == run.ranker.quality
    assert abs(sum(run.ranker.weights.values()) - 1) < 0.01
    features = np.random.default_rng(1).random((50, len(FEATURES))).astype(np.float32)
    again = TrainedScorer.from_bytes(kept.to_bytes())
    assert kept.probability(kept.raw(features)).tolist() == again.probability(again.raw(features)).tolist()
    assert ((kept.probability(kept.raw(features)) >= 0) & (kept.probability(kept.raw(features)) <= 1)).all()


@pytest.mark.nightly
def test_the_optimal_mode_reports_its_gain_over_best_first(project, site):
    best = match(project, related_per_donor=1, inline_per_donor=1, per_target=2, pool=10)
    optimal = match(project, related_per_donor=1, inline_per_donor=1, per_target=2, pool=10, mode=Mode.OPTIMAL)
    assert optimal.report["allocation"]["best_first"] == best.report["allocation"]["total"]
    assert optimal.report["allocation"]["against_best_first"] >= 0


@pytest.mark.nightly
def test_generators_can_be_switched_off_and_each_edge_names_those_that_proposed_it(project, site):
    run = match(project, generators=("mention", "nearest"))
    assert set(run.report["generators"]) == {"mention", "nearest"}
    named = {name for names in CandidateEdge.objects.values_list("generators", flat=True) for name in names}
    assert named == {"mention", "nearest"}


def decide(run: Run, verdicts: list[tuple[str, str]]) -> list[CandidateEdge]:
    """The run's best suggestions with the status and the reason that an editor gave them."""
    edges = list(CandidateEdge.objects.filter(run=run).order_by("-score", "id")[: len(verdicts)])
    for edge, (status, reason) in zip(edges, verdicts, strict=True):
        CandidateEdge.objects.filter(pk=edge.pk).update(status=status, reviewed=True, rejected_for=reason)
    return edges


@pytest.mark.nightly
def test_reasons_that_do_not_speak_of_the_pair_teach_nothing_about_it(project, site):
    run = match(project)
    reasons = [
        "",
        "irrelevant",
        "wrong_target",
        "other",
        "bad_anchor",
        "too_many",
        "duplicate",
        "outdated",
        "sensitive",
        "better_there",
    ]
    edges = decide(run, [("rejected", reason) for reason in reasons])
    model = embedding_model(project)
    loaded = load_site(project, model, eligible_pages(project, model, MatchParams()))

    def pairs(of: Pairs) -> set[tuple[int, int]]:
        return set(zip(loaded.ids[of.src].tolist(), loaded.ids[of.dst].tolist(), strict=True))

    assert pairs(loaded.site.rejected) == {(edge.source_id, edge.target_id) for edge in edges[:4]}
    assert pairs(loaded.site.forbidden) == {(edge.source_id, edge.target_id) for edge in edges[4:]}


@pytest.mark.nightly
def test_decisions_bend_the_probabilities_and_the_run_says_on_how_many_it_stands(project, site):
    first = match(project)
    assert first.report["approval"]["decisions"] == 0
    before = CandidateEdge.objects.filter(run=first, span_start__isnull=False, anchor_source="anchor").count()
    taken = {edge.pk for edge in decide(first, 12 * [("rejected", "bad_anchor")] + 3 * [("rejected", "too_many")])}
    second = match(project)
    told = second.report["approval"]
    assert (told["decisions"], sum(band["decisions"] for band in told["bands"])) == (12, 12)
    assert all(band["approved"] == 0 < band["stated"] for band in told["bands"])
    # Of these words all were poor, so the others of their kind are held back: what is beside the text stays as it was.
    words = {edge.anchor_source for edge in CandidateEdge.objects.filter(pk__in=taken)}
    open_ones = CandidateEdge.objects.filter(run=second).exclude(pk__in=taken)
    assert words == {"anchor"}
    assert before > len(taken)
    others = open_ones.filter(span_start__isnull=False, anchor_source__in=words)
    assert {edge.probability < 0.6 < edge.evidence["stated"] for edge in others} == {True}
    beside = open_ones.filter(span_start__isnull=True).order_by("-score")[:20]
    assert all(edge.probability == edge.evidence["stated"] for edge in beside)
    assert "12 decisions" in match_page(second).approval
    assert sum(band.decisions for band in match_page(second).bands) == 12
    said = [band.label.split(" to ") for band in match_page(second).bands]
    steps = ["0%", "30%", "50%", "70%", "85%", "100%"]
    assert all(steps.index(high) - steps.index(low) == 1 for low, high in said)


@pytest.mark.nightly
def test_the_run_says_what_became_of_every_under_linked_page(project, site):
    got = match(project).report["under_linked"]
    linked = ExistingLink.objects.values("target").annotate(donors=Count("source", distinct=True)).filter(donors__gt=2)
    assert got["pages"] == 120 - linked.count()
    why = ("held_back", "no_room", "too_unlikely", "linked", "not_found")
    assert got["pages"] == got["shown"] + sum(got[name] for name in why)
    assert 0 <= got["in_text"] <= got["shown"]
