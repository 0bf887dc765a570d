"""What a rejection rules out beside its pair: at matching, in the queue and at a release, for as long as was said."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.explain.pair import why_not_pair
from linker.matching import suppressions
from linker.matching.follow_up_work import run_follow_up
from linker.matching.suppressions import lift, suppress_again
from linker.models import CandidateEdge, EdgeStatus, Page, Reach, Run, RunKind, SuppressedKind, Suppression
from linker.storage.edge_counts import differences
from review.decisions import decide_edges
from review.models import Held, Reason, Verb
from review.queue import selectors
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.queue.round_trip import apply
from review.queue.sheet_in import read_sheet
from review.rulings import Ruling, Shown
from review.undoing import undo
from tests.factories import make_category, make_edge, make_member, make_page
from tests.linker.matching.test_match import match, pairs, small
from tests.review.queue_requests import OPERATIONS, PAGE, decision, text
from tests.review.test_checks import accepted, held_of

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db

LIST = "/p/shop/queue/suppressed/"
LISTED, FILTERED = 8, 10  # queries; a search asks for the pages, and for those that had such an address before
# By the reason: from which donors an acceptor is still suggested once the pair of a and b was rejected; see `shop`.
RULED_OUT = {
    Reason.IRRELEVANT: {("a", "b")},
    Reason.WRONG_TARGET: {("a", "b"), ("inside", "b")},
    Reason.TOO_MANY: {("a", "b"), ("a", "c"), ("a", "inside"), ("a", "outside")},
    Reason.BAD_ANCHOR: {("a", "b")},
    Reason.BETTER: {("a", "b")},
}


def reject(edge: CandidateEdge, user, reason: str = "", reach: Reach = Reach.GOOD) -> Suppression:
    decide_edges(edge.project, [edge.pk], Verb.REJECT, user, Ruling(reason=reason, reach=reach, widely=True))
    return Suppression.objects.filter(edge=edge, lifted_at=None).latest("pk")


def edge_of(donor: Page, acceptor: Page) -> CandidateEdge:
    return CandidateEdge.objects.get(source=donor, target=acceptor)


def listed(project: Project, user) -> set[tuple[str, str]]:
    found = [line.edge for line in selectors.lines(project, QueueFilter(), user, size=100).lines]
    assert queue_counts(project, QueueFilter(), user).to_review == len(found)
    assert not differences(project)
    return {(edge.source.url.rsplit("/", 1)[1], edge.target.url.rsplit("/", 1)[1]) for edge in found}


@pytest.fixture
def shop(project) -> dict[str, Page]:
    """Pages that all mean the same: a and inside in one section, outside in another, all of them below "All"."""
    pages = small(project, "a", "b", "c", "inside", "outside")
    where = {"a": ("All", "Tents"), "inside": ("All", "Tents", "Domes"), "outside": ("All", "Stoves")}
    for name, path in where.items():
        pages[name].category = make_category(project, *path)
        pages[name].save()
    project.tiers.update(held=False)
    return pages


@pytest.mark.nightly
@pytest.mark.parametrize("reason", RULED_OUT)
def test_a_reason_takes_what_it_rules_out_out_of_the_queue_and_of_the_next_match_until_it_is_undone(
    project, shop, editor, reason
):
    match(project, levels_up=9, related_per_donor=9)
    before = listed(project, editor)
    reject(edge_of(shop["a"], shop["b"]), editor, reason)
    after = listed(project, editor)
    if reason == Reason.BAD_ANCHOR:  # all say "All about b"
        assert before - after == {(name, "b") for name in ("a", "c", "inside", "outside")}
    else:
        assert before - after == RULED_OUT[reason]
    undo(project, editor)
    assert listed(project, editor) == before
    reject(edge_of(shop["a"], shop["b"]), editor, reason)
    run = match(project, levels_up=9, related_per_donor=9)
    if reason == Reason.BAD_ANCHOR:
        anchors = CandidateEdge.objects.filter(run=run, target=shop["b"]).values_list("anchor", flat=True)
        assert "All about b" not in anchors
    assert listed(project, editor) == after
    undo(project, editor)
    match(project, levels_up=9, related_per_donor=9)
    assert listed(project, editor) == before


@pytest.mark.nightly
@pytest.mark.parametrize("reason", [Reason.WRONG_TARGET, Reason.BAD_ANCHOR])
def test_one_key_rules_out_the_pair_alone_and_a_second_one_what_the_reason_names(project, editor, as_editor, reason):
    """Here the words are the acceptor's own title, on a link beside the text."""
    category, target = make_category(project, "Tents"), make_page(project, title="Warm boots")
    edges = [make_edge(project, make_page(project, category=category), target, anchor="Warm boots") for _ in range(3)]
    assert "On other pages too" in text(as_editor.get(PAGE))
    sent = decision(edges[0], f"reject:{reason}")
    as_editor.post(OPERATIONS, {"operations": [sent]}, content_type="application/json")
    assert Suppression.objects.get().kind == SuppressedKind.PAIR
    assert len(listed(project, editor)) == 2
    wide = decision(edges[1], f"reject:{reason}", widely="1")
    as_editor.post(OPERATIONS, {"operations": [wide]}, content_type="application/json")
    assert listed(project, editor) == set()
    undo(project, editor)
    assert len(listed(project, editor)) == 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("reach", "end"),
    [
        (Reach.DAYS, lambda row: Suppression.objects.filter(pk=row.pk).update(ends_at=row.made_at - timedelta(1))),
        (Reach.CHANGED, lambda row: Page.objects.filter(pk=row.target_id).update(body="Another text.")),
        (Reach.CHANGED, lambda row: Page.objects.filter(pk=row.source_id).update(body="Another text.")),
        (Reach.GOOD, lambda row: lift(row.project, [row.pk], row.made_by)),
    ],
)
def test_a_pair_is_suggested_again_by_the_first_match_after_its_reach(project, shop, editor, reach, end):
    match(project, levels_up=9, related_per_donor=9)
    edge = edge_of(shop["a"], shop["b"])
    row = reject(edge, editor, Reason.WRONG_TARGET, reach)
    match(project, levels_up=9, related_per_donor=9)
    assert not {("a", "b"), ("inside", "b")} & pairs(project, status="suggested", stale=False)
    end(row)
    match(project, levels_up=9, related_per_donor=9)
    assert {("a", "b"), ("inside", "b")} <= listed(project, editor)
    edge.refresh_from_db()
    assert (edge.status, edge.reviewed, edge.rejected_for) == ("suggested", False, "")
    assert not CandidateEdge.objects.filter(suppressed_by__isnull=False).exists()
    again = reject(edge, editor)
    assert (again.kind, again.reach) == (SuppressedKind.PAIR, Reach.GOOD)


def test_ninety_days_are_ninety_days(project, edge, editor):
    row = reject(edge, editor, reach=Reach.DAYS)
    assert timedelta(days=89, hours=23) < row.ends_at - timezone.now() <= timedelta(days=90)


@pytest.mark.nightly
def test_a_rejection_without_a_suppression_holds_for_good(project, shop, editor):
    match(project)
    CandidateEdge.objects.filter(source=shop["b"], target=shop["c"]).update(status="rejected", reviewed=True)
    match(project)
    assert edge_of(shop["b"], shop["c"]).status == "rejected"


@pytest.mark.nightly
def test_a_run_that_began_before_leaves_out_what_was_ruled_out_meanwhile(project, shop, editor, monkeypatch):
    from linker.matching import finish

    match(project, levels_up=9)
    edge, allocate = edge_of(shop["a"], shop["b"]), finish.allocate_links

    def rejected_meanwhile(*args):
        reject(edge, editor, Reason.TOO_MANY)
        return allocate(*args)

    monkeypatch.setattr(finish, "allocate_links", rejected_meanwhile)
    match(project, levels_up=9)
    assert not [pair for pair in listed(project, editor) if pair[0] == "a"]
    assert edge_of(shop["a"], shop["b"]).status == "rejected"
    undo(project, editor)
    assert [pair for pair in listed(project, editor) if pair[0] == "a"]


@pytest.mark.nightly
def test_what_one_rejection_brings_back_another_may_keep_away(project, editor):
    donor, target = make_page(project), make_page(project)
    first, second = make_edge(project, donor, target), make_edge(project, donor)
    other = make_edge(project, donor, score=0.8)
    reject(first, editor, Reason.TOO_MANY)
    CandidateEdge.objects.filter(pk=second.pk).update(stale=False, suppressed_by=None)
    row = reject(second, editor, Reason.TOO_MANY)
    undo(project, editor)
    assert row != Suppression.objects.get(hides=second)
    other.refresh_from_db()
    assert (other.stale, other.suppressed_by.edge_id) == (True, first.pk)
    undo(project, editor)
    other.refresh_from_db()
    assert (other.stale, other.suppressed_by_id) == (False, None)


def test_who_accepts_a_rejected_link_after_all_allows_it_again(project, edge, editor):
    other = make_edge(project, edge.source)
    row = reject(edge, editor, Reason.TOO_MANY)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(EdgeStatus.REJECTED))
    row.refresh_from_db()
    other.refresh_from_db()
    assert (row.lifted_by, other.stale) == (editor, False)


@pytest.mark.parametrize("verb", [Verb.ACCEPT, Verb.REJECT])
def test_who_takes_back_a_second_decision_has_the_first_rejection_again_with_all_that_it_ruled_out(
    project, edge, editor, verb
):
    other = make_edge(project, edge.source)
    first = reject(edge, editor, Reason.TOO_MANY, Reach.DAYS)
    decide_edges(project, [edge.pk], verb, editor, shown=Shown(EdgeStatus.REJECTED))
    undo(project, editor)
    edge.refresh_from_db()
    other.refresh_from_db()
    again = Suppression.objects.get(lifted_at=None)
    assert (edge.status, edge.rejected_for) == (EdgeStatus.REJECTED, Reason.TOO_MANY)
    assert (again.kind, again.reach, again.ends_at) == (SuppressedKind.PAGE, Reach.DAYS, first.ends_at)
    assert other.suppressed_by_id == again.pk


def test_who_takes_back_a_second_decision_rules_out_nothing_that_had_been_allowed_before_it(project, edge, editor):
    row = reject(edge, editor, Reason.TOO_MANY)
    lift(project, [row.pk], editor)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(EdgeStatus.REJECTED))
    undo(project, editor)
    assert not Suppression.objects.filter(lifted_at=None).exists()


def test_a_donor_without_a_category_has_no_section_to_rule_out(project, editor):
    row = reject(make_edge(project), editor, Reason.WRONG_TARGET)
    assert row.kind == SuppressedKind.PAIR


def test_words_are_compared_as_anchors_are(project, editor):
    target = make_page(project)
    same = make_edge(project, target=target, anchor="Boots for Snow")
    other = make_edge(project, target=target, anchor="warm boots")
    elsewhere = make_edge(project, anchor="snow boots")
    reject(make_edge(project, target=target, anchor="snow boots"), editor, Reason.BAD_ANCHOR)
    hidden = CandidateEdge.objects.filter(stale=True)
    assert set(hidden) == {same}
    assert not {other, elsewhere} & set(hidden)


@pytest.mark.nightly
def test_a_release_holds_back_words_and_sections_that_were_ruled_out_and_not_what_a_donor_has_already(project, editor):
    category = make_category(project, "Tents")
    target, donor = make_page(project), make_page(project, category=category)
    words = accepted(project, target=target, anchor="Boots for snow")
    section = accepted(project, donor, make_page(project))
    kept = accepted(project, donor, anchor="kept")
    reject(make_edge(project, target=target, anchor="snow boots"), editor, Reason.BAD_ANCHOR)
    row = reject(make_edge(project, make_page(project, category=category), section.target), editor, Reason.WRONG_TARGET)
    reject(make_edge(project, donor), editor, Reason.TOO_MANY)
    assert sorted(held_of(project)) == [
        (Held.SUPPRESSED, "An editor ruled out the acceptor for Tents."),
        (Held.SUPPRESSED, f"An editor ruled out the words “{words.anchor}” for the acceptor."),
    ]
    lift(project, [row.pk], editor)
    assert len(held_of(project)) == 1
    assert kept.pk


@pytest.mark.nightly
def test_why_not_names_what_was_ruled_out(project, shop, editor):
    match(project, levels_up=9)
    row = reject(edge_of(shop["a"], shop["b"]), editor, Reason.WRONG_TARGET, Reach.CHANGED)
    reject(edge_of(shop["outside"], shop["c"]), editor, Reason.TOO_MANY)
    reject(edge_of(shop["b"], shop["c"]), editor, Reason.BAD_ANCHOR)

    def said(donor: str, acceptor: str) -> dict[str, str]:
        found = why_not_pair(project, shop[donor], shop[acceptor]).findings
        return {finding.code: finding.text for finding in found}

    assert "until the text of either page changes" in said("a", "b")["rejected"]
    assert said("inside", "b")["suppressed"].endswith("the acceptor is not suggested from All › Tents.")
    assert said("outside", "a")["suppressed"].endswith("it takes no more links.")
    assert said("inside", "c")["suppressed-words"].endswith("“All about c”.")
    lift(project, [row.pk], editor)
    assert "rejected-once" in said("a", "b")
    assert "suppressed" not in said("inside", "b")


def test_allowing_again_is_taken_back_by_a_row_of_its_own(project, edge, editor):
    other, manager = make_edge(project, edge.source), make_member(project, "manager")
    row = reject(edge, editor, Reason.TOO_MANY, Reach.DAYS)
    lift(project, [row.pk], manager)
    row.refresh_from_db()
    assert (row.lifted_by, row.is_lifted) == (manager, True)
    again = suppress_again(row, manager)
    other.refresh_from_db()
    assert (again.made_by, again.ends_at, other.suppressed_by_id) == (manager, row.ends_at, again.pk)
    undo(project, editor)
    other.refresh_from_db()
    assert (other.stale, Suppression.objects.filter(lifted_at=None).count()) == (False, 0)


@pytest.fixture
def many(project, edge, monkeypatch) -> list[CandidateEdge]:
    """More suggestions of the edge's donor than come back within a request."""
    monkeypatch.setattr(suppressions, "AT_ONCE", 2)
    return [make_edge(project, edge.source) for _ in range(5)]


def still_out(edges: list[CandidateEdge]) -> int:
    return CandidateEdge.objects.filter(pk__in=[edge.pk for edge in edges], stale=True).count()


@pytest.mark.nightly
def test_what_one_rejection_ruled_out_comes_back_by_a_run_where_it_is_much(project, edge, editor, as_editor, many):
    row = reject(edge, editor, Reason.TOO_MANY)
    assert still_out(many) == 5
    answer = as_editor.post(f"{LIST}{row.pk}/allow/", {"query": ""}, follow=True)
    assert "A run is bringing the suggestions back into the queue." in text(answer)
    row.refresh_from_db()
    assert (row.is_lifted, still_out(many)) == (True, 5)
    run = Run.objects.get(kind=RunKind.FOLLOW_UP)
    told: list[tuple[int, int]] = []

    def killed(done: int, total: int, stage: str = "") -> None:
        told.append((done, total))
        if done == 2:
            raise RuntimeError("the worker is gone")

    with pytest.raises(RuntimeError):
        run_follow_up(run, killed)
    assert (still_out(many), told[1:]) == (3, [(0, 5), (2, 5)])
    assert run_follow_up(run).allowed == 3
    assert still_out(many) == 0
    assert run_follow_up(run).allowed == 0
    assert not differences(project)


@pytest.mark.nightly
def test_an_undo_leaves_to_a_run_what_its_rejection_had_ruled_out_where_it_is_much(project, edge, editor, many):
    reject(edge, editor, Reason.TOO_MANY)
    undo(project, editor)
    edge.refresh_from_db()
    assert (edge.status, still_out(many)) == (EdgeStatus.SUGGESTED, 5)
    assert run_follow_up(Run.objects.get(kind=RunKind.FOLLOW_UP)).allowed == 5
    assert still_out(many) == 0


def test_the_cards_that_leave_with_a_rejection_are_named_in_its_answer(project, edge, as_editor):
    other, elsewhere = make_edge(project, edge.source), make_edge(project)
    body = {
        "operations": [decision(edge, "reject:too_many", reach="changed")], "query": "",
        "held": [other.pk, elsewhere.pk],
    }  # fmt: skip
    answer = as_editor.post(OPERATIONS, json.dumps(body), content_type="application/json").json()
    assert answer["answers"][0]["hidden"] == [other.pk]
    assert answer["counts"]["left"] == 1
    assert Suppression.objects.get().reach == Reach.CHANGED


def test_the_card_says_what_each_reason_does(as_editor, edge):
    said = text(as_editor.get(PAGE))
    assert "Wrong acceptor 2 Never this acceptor from Tips" in said
    assert "Poor anchor 3 Never “Warm winter boots” for this acceptor" in said
    assert "Too many links on this page 5 This donor takes no more links" in said
    assert "Not relevant 1 Hides this pair, teaches the next match" in said
    assert "for this acceptor Hides this pair, teaches the choice of words" in said
    assert "for good until either page changes for 90 days" in said


@pytest.mark.nightly
def test_the_list_shows_what_holds_and_leads_back(project, edge, as_editor, editor):
    other = make_edge(project, edge.source)
    reject(edge, editor, Reason.TOO_MANY, Reach.DAYS)
    assert "More links on Warm feet /warm-feet → /boots until" in (said := text(as_editor.get(LIST)))
    assert f"{editor.username}" in said
    row = Suppression.objects.get()
    answer = as_editor.post(f"{LIST}{row.pk}/allow/", {"query": "kind=page"}, follow=True)
    assert answer.redirect_chain[0][0] == f"{LIST}?kind=page&lifted={row.pk}"
    assert "Allowed again: More links on Warm feet" in text(answer)
    other.refresh_from_db()
    assert not other.stale
    for _ in range(2):
        answer = as_editor.post(f"{LIST}{row.pk}/again/", {"query": ""}, follow=True)
    assert "Nothing was changed" in text(answer)
    other.refresh_from_db()
    assert other.stale
    assert as_editor.post(f"{LIST}{row.pk}/allow/", {"query": "a\nb"}).status_code == 400


@pytest.mark.nightly
def test_the_list_is_filtered_and_paged_with_the_same_queries_whatever_it_lists(
    project, edge, as_editor, editor, django_assert_num_queries, monkeypatch
):
    monkeypatch.setattr("review.queue.suppressed.SIZE", 2)
    other = make_member(project)
    reject(edge, editor, Reason.TOO_MANY)
    for colour in ("red", "green", "blue"):
        reject(make_edge(project, target=make_page(project, title=f"Stove {colour}")), other)
    for query, titles in {
        "": ["Stove blue", "Stove green"],
        f"after={Suppression.objects.order_by('-pk')[1].pk}": ["Stove red", "Warm feet"],
        "kind=page": ["Warm feet"],
        f"who={editor.pk}": ["Warm feet"],
        "text=stove+green": ["Stove green"],
        "text=warm": ["Warm feet"],
        "kind=words": [],
    }.items():
        with django_assert_num_queries(FILTERED if "text" in query else LISTED):
            found = as_editor.get(f"{LIST}?{query}")
        rows = re.findall(r'class="suppressed__what">(.*?)</span>', found.content.decode(), re.S)[::2]
        assert [next(title for title in (*titles, "?") if title in row) for row in rows] == titles
    assert "ignores" in text(as_editor.get(f"{LIST}?kind=bogus&who=x&more=1"))


@pytest.mark.nightly
def test_however_many_have_ended_a_screen_looks_at_so_many_and_the_next_goes_on(
    project, edge, as_editor, editor, monkeypatch
):
    monkeypatch.setattr("review.queue.suppressed.LOOKED_AT", 3)
    first = reject(edge, editor)
    ended = [reject(make_edge(project), editor, reach=Reach.DAYS) for _ in range(4)]
    Suppression.objects.filter(pk__in=[row.pk for row in ended]).update(ends_at=timezone.now() - timedelta(days=1))
    with CaptureQueriesContext(connection) as asked:
        found = as_editor.get(LIST)
    assert "Go on looking" in text(found)
    [looked_at] = [
        query["sql"] for query in asked if 'FROM "linker_suppression"' in query["sql"] and "OFFSET" in query["sql"]
    ]
    assert "linker_page" not in looked_at  # by the index alone
    after = re.findall(r'href="\?(after=\d+)"', found.content.decode())
    assert "Go on looking" not in (said := text(as_editor.get(f"{LIST}?{after[0]}")))
    assert first.target.title in said


def test_a_file_says_for_how_long(project, edge, editor, tmp_path):
    row = f"{edge.pk},{edge.run_id},{edge.source.url},{edge.target.url},{edge.anchor}"
    (tmp_path / "sheet.csv").write_text(
        "suggestion,run,donor,acceptor,anchor,decision,reason,reach\n"
        f"{row},reject,Poor anchor,for 90 days\n"
        f"{row},reject,,a while\n"
    )
    sheet = read_sheet(tmp_path / "sheet.csv")
    assert sheet.unread[0].text.startswith("“a while” under “reach” does not say for how long.")
    apply(project, editor, sheet.wishes)
    kept = Suppression.objects.get()
    assert (kept.kind, kept.reach) == (SuppressedKind.PAIR, Reach.DAYS)
