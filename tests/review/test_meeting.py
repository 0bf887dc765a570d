"""What editors do while a run writes waits for it or goes on, and neither ends the other."""

from __future__ import annotations

import pytest
from django.utils import timezone

from linker.engine.params import MatchParams, Ranking
from linker.matching import away, caps_run, edges, finish, standing
from linker.matching.standing import start_standing, take_again
from linker.matching.start import run_match
from linker.models import Basis, Block, CandidateEdge, ExistingLink, Page, Placement, RunKind, RunStatus, Tier
from linker.models.querysets import OPEN
from linker.projects.policies.tiers import change_tiers
from linker.runs import lifecycle
from review import decisions
from review.live import seeing, verify
from review.models import LinkEvent, LiveState, PublishedLink, Verb
from review.undoing import undo
from tests.barriers import Meeting, meet
from tests.factories import embed, make_edge, make_link, make_model, make_page, make_run
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db(transaction=True)


def _start(project, **params):
    values = {"ranking": Ranking.COSINE, "threshold": 0.0, "inline_per_donor": 2, "related_per_donor": 2, **params}
    run = lifecycle.start_run(project, RunKind.MATCH, MatchParams(**values).to_dict(), to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    run.refresh_from_db()
    return run


@pytest.fixture
def matched(project):
    """The open suggestions of a match of eight pages, by their ids."""
    model = make_model()
    for number in range(8):
        embed(make_page(project, f"/tents/{number}", title=f"Tent {number}"), [1, number / 8, number % 3, 0], model)
    run_match(_start(project))
    return list(CandidateEdge.objects.filter(OPEN).order_by("pk"))


def _both_went_well(met: Meeting) -> None:
    assert not isinstance(met.first, Exception), met.first
    assert not isinstance(met.second, Exception), met.second


def _accept(project, editor, *edges):
    return lambda: decisions.decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)


def test_a_match_that_ends_and_a_group_that_is_accepted(project, editor, matched, monkeypatch):
    threshold = sorted(edge.similarity for edge in matched)[len(matched) // 2]
    left = next(edge for edge in matched if edge.similarity < threshold)
    found = next(edge for edge in reversed(matched) if edge.similarity > threshold)
    assert left.pk < found.pk
    run = _start(project, threshold=threshold)
    met = meet(
        monkeypatch,
        lambda: run_match(run),
        (finish, "mark_stale"),  # what is found again is written, and what is not follows
        _accept(project, editor, left, found),
    )
    _both_went_well(met)
    assert met.waited
    left.refresh_from_db()
    assert left.stale or left.status == "accepted"
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED


@pytest.mark.nightly
@pytest.mark.parametrize("at", ["_give_best_of_donors", "analyze"])
def test_nobody_waits_while_a_match_chooses_words_and_places_and_writes_what_is_new(
    project, editor, matched, monkeypatch, at
):
    [decision] = _accept(project, editor, matched[0])().decided
    run = _start(project)
    met = meet(
        monkeypatch,
        lambda: run_match(run),
        (edges, at),  # after words and places, and after the new rows, which take minutes on a large site
        lambda: (_accept(project, editor, matched[1])(), undo(project, editor, decision)),
    )
    _both_went_well(met)
    assert not met.waited


@pytest.mark.nightly
def test_tiers_that_change_while_a_match_chooses_words_hold_for_what_it_stores(project, manager, monkeypatch):
    model = make_model()
    for number in range(8):
        embed(make_page(project, f"/tents/{number}", title=f"Tent {number}"), [1, number / 8, number % 3, 0], model)
    tiers = list(Tier.objects.filter(project=project, basis=Basis.COSINE))
    kept, *dropped = tiers
    kept.lower_bound = 0.0
    run = _start(project)
    met = meet(
        monkeypatch,
        lambda: run_match(run),
        (edges, "_give_best_of_donors"),
        lambda: change_tiers(project, [kept], dropped, manager),
    )
    _both_went_well(met)
    assert not met.waited
    assert set(project.edges.values_list("tier", flat=True)) == {kept.pk}, "each of them once, by the new tiers"


@pytest.mark.nightly
def test_a_run_that_is_restored_and_a_group_that_is_decided(project, editor, manager, matched, monkeypatch):
    first, decided, waiting = matched[0].run, matched[0], matched[-1]
    _accept(project, editor, decided)()
    run_match(_start(project, related_per_donor=1))
    CandidateEdge.objects.filter(pk=decided.pk).update(donor_best=0.001)  # so that it is evened out
    run = start_standing(project, first, manager)
    met = meet(
        monkeypatch,
        lambda: take_again(run),
        (standing, "even_out_donor_best"),
        _accept(project, editor, decided, waiting),
    )
    _both_went_well(met)


@pytest.mark.nightly
def test_a_look_for_released_links_and_a_link_that_is_put_back(project, editor, monkeypatch):
    """Without verify's `lock_edges` and `lock_rows`, which were made to do nothing, PostgreSQL ends one of the two: the
    look has written the link and wants the suggestion, of which the other has written the status."""
    edge = make_edge(project, status="accepted", rel="follow", anchor="warm socks", placement=Placement.INLINE)
    release_of(project)
    make_link(edge.source, edge.target, "cold feet", Block.CONTENT)
    verify.verify(project)
    assert PublishedLink.objects.get().state == LiveState.DIFFERENT
    ExistingLink.objects.all().delete()
    met = meet(
        monkeypatch,
        lambda: verify.verify(project),
        (verify, "_reopen"),  # its link is written, and the suggestion follows
        lambda: seeing.reopen(project, [edge.pk], editor, ""),
    )
    assert met.waited
    _both_went_well(met)
    edge.refresh_from_db()
    assert (edge.status, edge.regressed) == ("suggested", True)
    assert PublishedLink.objects.get().state == LiveState.LOST
    assert LinkEvent.objects.filter(edge=edge, after=LiveState.LOST).count() >= 1


@pytest.mark.nightly
def test_pages_that_turn_and_a_group_that_is_decided(project, editor, monkeypatch):
    """Without away's `lock_edges_by_id`, which was made to do nothing, PostgreSQL ends one of the two: the first has
    the suggestion of the page that left, and wants that of the page that is back."""
    back = make_edge(project, stale=True, away_at=timezone.now())
    leaving = make_edge(project)
    Page.objects.filter(pk__in=[back.target_id, leaving.target_id]).update(indexable=False)
    Page.objects.filter(pk=back.target_id).update(indexable=True)
    met = meet(
        monkeypatch,
        lambda: away.follow(project),
        (away, "_bring_back"),
        _accept(project, editor, back, leaving),
    )
    _both_went_well(met)
    assert met.waited


def _capped(project):
    """An open suggestion whose tier is not read yet, and one that caps keep out of the queue and there is room for."""
    run = make_run(project, params=MatchParams().to_dict())
    behind = make_edge(project, run=run, tier=None)
    capped = make_edge(project, run=run, stale=True, capped_at=run.started_at or run.created_at)
    return behind, capped


def test_caps_that_are_applied_and_a_group_that_is_accepted(project, editor, monkeypatch):
    """Without caps_run's `lock_edges`, which was made to do nothing, PostgreSQL ends one of the two."""
    behind, capped = _capped(project)
    run = lifecycle.start_run(project, RunKind.CAPS, {}, to_queue=False)
    met = meet(
        monkeypatch,
        lambda: caps_run.run_apply_caps(run),
        (caps_run, "retier"),
        _accept(project, editor, behind, capped),
    )
    _both_went_well(met)


@pytest.mark.nightly
def test_caps_that_are_applied_and_a_decision_that_is_undone(project, editor, monkeypatch):
    """Without caps_run's `lock_project`, which was made to do nothing, the undo does not wait, and reads tiers beside
    those who count what there is room for. Neither order of theirs is a deadlock: each locks the project first."""
    _behind, _ = _capped(project)
    [decision] = _accept(project, editor, make_edge(project))().decided
    run = lifecycle.start_run(project, RunKind.CAPS, {}, to_queue=False)
    met = meet(
        monkeypatch,
        lambda: caps_run.run_apply_caps(run),
        (caps_run, "retier"),
        lambda: undo(project, editor, decision),
    )
    _both_went_well(met)
    assert met.waited
    assert CandidateEdge.objects.get(pk=decision.edge_id).status == "suggested"
