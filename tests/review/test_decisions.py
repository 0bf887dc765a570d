"""Decisions: one transaction, compare and set, an append-only log, and undo at many levels."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus, Project, Rel, SensitiveRule, Tier
from linker.projects.policies.sensitive import add_sensitive, remove_sensitive
from linker.projects.policies.tiers import change_tiers
from review.anchor_warnings import CODES
from review.decisions import decide_edges
from review.models import Decision, Verb, Where
from review.queue.recent import recent_work
from review.rulings import AnchorError, NothingToUndo, Outcome, Ruling, Shown
from review.undoing import undo
from tests.examples import few
from tests.factories import make_category, make_edge, make_link, make_member, make_page, make_project, make_run
from tests.review.races import race

pytestmark = pytest.mark.django_db


def state(edge: CandidateEdge) -> tuple[str, str, str, bool]:
    edge = CandidateEdge.objects.get(pk=edge.pk)
    return edge.status, edge.anchor, edge.rel, edge.edited


def rewrite(project: Project, edge: CandidateEdge, editor: User, anchor: str) -> Outcome:
    """Accepts the edge with these words, whatever speaks against them."""
    return decide_edges(project, [edge.pk], Verb.EDIT, editor, Ruling(anchor=anchor, overrules={edge.pk: CODES}))


def log(edge: CandidateEdge) -> list[str]:
    return list(Decision.objects.filter(edge=edge).order_by("pk").values_list("verb", flat=True))


def test_an_accept_confirms_the_rel_of_the_tier_and_records_what_was_seen(project, editor):
    edge = make_edge(project, score=0.7, rel=Rel.NOFOLLOW)
    (decision,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(position=4)).decided
    decision.refresh_from_db()
    assert state(edge) == ("accepted", "a good anchor", "follow", False)
    assert (decision.user, decision.verb, decision.position) == (editor, "accept", 4)
    assert (decision.status_before, decision.status_after) == ("suggested", "accepted")
    assert (decision.rel_before, decision.rel_after) == ("nofollow", "follow")
    assert (decision.seen_score, decision.seen_tier, decision.seen_run_id) == (0.7, "Related", edge.run_id)


@pytest.mark.parametrize("rel", Rel.values)
def test_an_editor_can_choose_the_rel(project, editor, rel):
    edge = make_edge(project, score=0.9)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor, Ruling(rel=Rel(rel)))
    assert state(edge)[2] == rel


def test_without_a_tier_an_accept_keeps_the_rel(project, editor):
    edge = make_edge(project, score=0.1, rel=Rel.UGC)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    assert state(edge)[2] == "ugc"


def test_a_reject_keeps_its_reason_and_note(project, editor):
    edge = make_edge(project)
    (decision,) = decide_edges(
        project, [edge.pk], Verb.REJECT, editor, Ruling(reason="bad_anchor", note="too broad")
    ).decided
    assert state(edge) == ("rejected", "a good anchor", "follow", False)
    assert (decision.reason, decision.note) == ("bad_anchor", "too broad")


def test_an_edit_accepts_with_the_anchor_as_it_reads(project, editor):
    edge = make_edge(project)
    rewrite(project, edge, editor, "  warm\t\u202ewinter\x07  boots ")
    assert state(edge) == ("accepted", "warm winter boots", "follow", True)
    assert log(edge) == ["edit"]


def test_an_edit_that_changes_nothing_is_a_plain_accept(project, editor):
    edge = make_edge(project)
    rewrite(project, edge, editor, " a  good anchor ")
    assert state(edge) == ("accepted", "a good anchor", "follow", False)
    assert log(edge) == ["accept"]


@pytest.mark.parametrize(
    ("anchor", "says"), [("", "empty"), (" \u200b\u202e", "empty"), ("—!", "empty"), ("x" * 201, "201 characters")]
)
def test_an_anchor_that_cannot_be_used_changes_nothing(project, editor, anchor, says):
    edge = make_edge(project)
    with pytest.raises(AnchorError, match=says):
        rewrite(project, edge, editor, anchor)
    assert state(edge) == ("suggested", "a good anchor", "follow", False)
    assert log(edge) == []


def test_whoever_is_second_changes_nothing_and_is_told_who_was_first(project, editor):
    edge, other = make_edge(project), make_member(project, username="maria")
    decide_edges(project, [edge.pk], Verb.REJECT, other, Ruling(reason="outdated"))
    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    assert outcome.decided == ()
    (conflict,) = outcome.conflicts
    assert "maria decided first: rejected (Page out of date)" in conflict.message
    assert conflict.edge.status == EdgeStatus.REJECTED
    assert log(edge) == ["reject"]


SAVED = "That decision is saved."
STANDS = "That decision stands, and nothing new was saved."


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({}, {}, f"You decided this already: accepted. {SAVED}"),
        ({"rel": Rel.UGC}, {"rel": Rel.UGC}, f"You decided this already: accepted. {SAVED}"),
        ({"rel": Rel.UGC}, {"rel": Rel.FOLLOW}, f"You decided this already: accepted. {STANDS}"),
        (
            {"verb": Verb.EDIT, "anchor": "good  boots"},
            {"verb": Verb.EDIT, "anchor": "good boots"},
            f"You decided this already: accepted with an edit. {SAVED}",
        ),
        (
            {"verb": Verb.EDIT, "anchor": "good boots"},
            {"verb": Verb.EDIT, "anchor": "a boot"},
            f"You decided this already: accepted with an edit. {STANDS}",
        ),
        (
            {"verb": Verb.REJECT, "reason": "outdated"},
            {"verb": Verb.REJECT, "reason": "outdated"},
            f"You decided this already: rejected (Page out of date). {SAVED}",
        ),
        ({"verb": Verb.REJECT}, {}, f"You decided this already: rejected. {STANDS}"),
        ({}, {"verb": Verb.REJECT}, f"You decided this already: accepted. {STANDS}"),
    ],
)
def test_who_decides_the_same_twice_is_told_that_it_was_saved(project, editor, first, second, said):
    edge = make_edge(project, target=make_page(project, title="Good boots"))
    seen = {edge.pk: edge.anchor}
    for sent in (first, second):
        ruling = Ruling(**{name: value for name, value in sent.items() if name != "verb"})
        verb = sent.get("verb", Verb.ACCEPT)
        outcome = decide_edges(project, [edge.pk], verb, editor, ruling, Shown(anchors=seen))
    assert [conflict.message for conflict in outcome.conflicts] == [said]
    assert len(log(edge)) == 1


def test_who_took_a_decision_back_elsewhere_is_not_told_that_it_was_another(project, editor):
    edge = make_edge(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    undo(project, editor)
    outcome = decide_edges(project, [edge.pk], Verb.REJECT, editor, shown=Shown(status=EdgeStatus.ACCEPTED))
    assert "You took an earlier decision back since. Nothing new was saved." in outcome.conflicts[0].message


def test_a_suggestion_that_a_run_refreshed_is_not_decided_unseen(project, editor):
    edge = make_edge(project)
    seen = edge.run_id
    CandidateEdge.objects.filter(pk=edge.pk).update(run=make_run(project), anchor="another anchor")
    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(runs={edge.pk: seen}))
    assert "newer match run" in outcome.conflicts[0].message
    assert state(edge)[0] == "suggested"


@pytest.mark.nightly
def test_a_decision_can_be_changed_by_saying_what_it_was(project, editor):
    edge = make_edge(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    decide_edges(project, [edge.pk], Verb.REJECT, editor, shown=Shown(status=EdgeStatus.ACCEPTED))
    assert state(edge)[0] == "rejected"
    undo(project, editor)
    assert state(edge)[0] == "accepted"
    undo(project, editor)
    assert state(edge)[0] == "suggested"


def test_what_was_exported_cannot_be_decided_on(project, editor):
    edge = make_edge(project, status=EdgeStatus.EXPORTED)
    with pytest.raises(UserError, match="exported"):
        decide_edges(project, [edge.pk], Verb.REJECT, editor, shown=Shown(status=EdgeStatus.EXPORTED))


def test_edges_of_another_project_are_refused_as_a_whole(project, editor):
    mine, theirs = make_edge(project), make_edge(make_project(slug="other"))
    with pytest.raises(UserError, match="not in this project"):
        decide_edges(project, [mine.pk, theirs.pk], Verb.ACCEPT, editor)
    assert state(mine)[0] == state(theirs)[0] == "suggested"


# ------------------------------------------------------------------------------------------------------ in bulk


@pytest.mark.nightly
def test_a_group_is_logged_edge_by_edge_and_undone_as_one(project, editor):
    donor = make_page(project)
    edges = [make_edge(project, donor, score=score) for score in (0.9, 0.7, 0.66)]
    taken = make_edge(project, donor, status=EdgeStatus.REJECTED)
    outcome = decide_edges(project, [edge.pk for edge in (*edges, taken)], Verb.ACCEPT, editor)
    assert {decision.edge_id for decision in outcome.decided} == {edge.pk for edge in edges}
    assert [conflict.edge.pk for conflict in outcome.conflicts] == [taken.pk]
    assert len({decision.batch for decision in outcome.decided}) == 1
    assert len(undo(project, editor).decided) == 3
    assert {state(edge) for edge in edges} == {
        ("suggested", "a good anchor", "follow", False),
        ("suggested", "a good anchor", "nofollow", False),
    }
    assert state(taken)[0] == "rejected"


def test_the_list_of_the_last_decisions_says_how_many_were_made_together(project, editor):
    edges = [make_edge(project) for _ in range(4)]
    made = decide_edges(project, [edge.pk for edge in edges[:3]], Verb.ACCEPT, editor).decided
    undo(project, editor, made[0])
    decide_edges(project, [edges[3].pk], Verb.ACCEPT, editor)
    assert [done.together for done in recent_work(project, editor)] == [1, 2, 2]


@pytest.mark.nightly
def test_one_link_of_a_group_can_be_taken_back_alone(project, editor):
    edges = [make_edge(project) for _ in range(3)]
    first = decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor).decided[0]
    undo(project, editor, first)
    assert [state(edge)[0] for edge in edges] == ["suggested", "accepted", "accepted"]
    assert len(undo(project, editor).decided) == 2


# --------------------------------------------------------------------------------------------------------- undo


@pytest.mark.nightly
def test_undo_goes_back_level_by_level_and_restores_everything(project, editor):
    edges = [make_edge(project, score=0.7) for _ in range(3)]
    before = [state(edge) for edge in edges]
    rewrite(project, edges[0], editor, "my own words")
    decide_edges(project, [edges[1].pk], Verb.REJECT, editor)
    decide_edges(project, [edges[2].pk], Verb.ACCEPT, editor, Ruling(rel=Rel.UGC))
    for edge, was in reversed(list(zip(edges, before, strict=True))):
        assert state(edge) != was
        undo(project, editor)
        assert state(edge) == was
    with pytest.raises(NothingToUndo, match="no decision of yours"):
        undo(project, editor)


@pytest.mark.nightly
def test_what_was_undone_can_be_decided_and_undone_again(project, editor):
    edge = make_edge(project)
    for _ in range(2):
        decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
        undo(project, editor)
    assert log(edge) == ["accept", "undo", "accept", "undo"]
    assert state(edge)[0] == "suggested"


def test_a_second_undo_of_the_same_decision_is_refused(project, editor):
    edge = make_edge(project)
    (decision,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    undo(project, editor, decision)
    with pytest.raises(NothingToUndo, match="already"):
        undo(project, editor, decision)
    assert log(edge) == ["accept", "undo"]


def test_undo_takes_back_ones_own_decisions_only_unless_one_is_named(project, editor):
    edge, other = make_edge(project), make_member(project)
    (decision,) = decide_edges(project, [edge.pk], Verb.ACCEPT, other).decided
    with pytest.raises(NothingToUndo):
        undo(project, editor)
    (undoing,) = undo(project, editor, decision).decided
    assert (undoing.user, undoing.undoes) == (editor, decision)


def test_a_decision_that_another_replaced_is_a_conflict(project, editor):
    edge, other = make_edge(project), make_member(project, username="maria")
    (mine,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    decide_edges(project, [edge.pk], Verb.REJECT, other, shown=Shown(status=EdgeStatus.ACCEPTED))
    outcome = undo(project, editor, mine)
    assert outcome.decided == ()
    assert "maria" in outcome.conflicts[0].message
    assert state(edge)[0] == "rejected"


def test_nothing_is_undone_after_the_export(project, editor):
    edges = [make_edge(project) for _ in range(2)]
    first = decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor).decided[0]
    CandidateEdge.objects.filter(pk=edges[0].pk).update(status=EdgeStatus.EXPORTED)
    for decision in (None, first):
        with pytest.raises(NothingToUndo, match="export"):
            undo(project, editor, decision)
    assert [state(edge)[0] for edge in edges] == ["exported", "accepted"]


def test_what_is_open_again_is_read_by_the_tiers_of_today(project, editor):
    edge = make_edge(project, score=0.66)
    decide_edges(project, [edge.pk], Verb.REJECT, editor)
    related = project.tiers.get(basis="cosine", name="Related")
    related.lower_bound, related.rel = 0.75, Rel.UGC
    change_tiers(project, [related])
    (undoing,) = undo(project, editor).decided
    edge.refresh_from_db()
    reserve = project.tiers.get(basis="cosine", name="Reserve")
    assert (edge.status, edge.tier, edge.placement, edge.rel) == (
        "suggested", reserve, reserve.placement, reserve.rel,
    )  # fmt: skip
    assert (undoing.rel_before, undoing.rel_after) == ("nofollow", edge.rel)


@pytest.mark.nightly
def test_where_the_tier_stayed_undo_gives_the_rel_back(project, editor):
    edge, other = make_edge(project, score=0.7), make_edge(project, score=0.7, status="accepted", rel=Rel.UGC)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    decide_edges(project, [other.pk], Verb.REJECT, editor, shown=Shown(status=EdgeStatus.ACCEPTED))
    inline = project.tiers.get(basis="cosine", name="Likely")
    inline.lower_bound = 0.68  # the accepted link is no suggestion: its rel is the editor's
    change_tiers(project, [inline])
    undo(project, editor)
    assert state(other)[:3:2] == ("accepted", "ugc")
    inline.lower_bound = 0.8
    change_tiers(project, [inline])
    undo(project, editor)
    assert state(edge)[:3:2] == ("suggested", "nofollow")


# ----------------------------------------------------------------------------------------------------- the log


@pytest.mark.parametrize("sql", ["UPDATE review_decision SET note = 'x'", "DELETE FROM review_decision"])
def test_the_log_can_neither_be_changed_nor_deleted(project, editor, sql):
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)
    assert Decision.objects.count() == 1


def test_when_the_log_cannot_be_written_the_edge_stays_as_it_was(project, editor):
    edge = make_edge(project)
    with pytest.raises(IntegrityError), transaction.atomic():
        decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(position=-1))
    assert state(edge)[0] == "suggested"


# ----------------------------------------------------------------------------------------------------- the race


@pytest.mark.django_db(transaction=True)
def test_of_two_editors_at_once_one_wins_and_the_other_is_told(project):
    one, two = make_member(project, username="one"), make_member(project, username="two")
    for _ in range(10):
        edge = make_edge(project)
        outcomes = race(
            lambda edge=edge: decide_edges(project, [edge.pk], Verb.ACCEPT, one),
            lambda edge=edge: decide_edges(project, [edge.pk], Verb.REJECT, two),
        )
        assert sorted(len(outcome.decided) for outcome in outcomes) == [0, 1]
        loser = next(outcome for outcome in outcomes if not outcome.decided)
        winner = next(outcome for outcome in outcomes if outcome.decided).decided[0].user
        assert winner.username in loser.conflicts[0].message
        assert len(log(edge)) == 1


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_two_groups_that_overlap_share_the_edges_without_a_deadlock(project):
    one, two = make_member(project), make_member(project)
    ids = [make_edge(project).pk for _ in range(20)]
    outcomes = race(
        lambda: decide_edges(project, ids, Verb.ACCEPT, one),
        lambda: decide_edges(project, ids[::-1], Verb.REJECT, two),
    )
    assert sum(len(outcome.decided) for outcome in outcomes) == 20
    assert Decision.objects.count() == 20


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_editor_and_a_change_of_tiers_wait_for_each_other_in_one_order(project):
    """The tiers flip back and forth, one is deleted, a rule comes and goes, groups are accepted and taken back."""
    editor = make_member(project)
    donor = make_page(project, category=make_category(project, "Health"))
    ids = [make_edge(project, donor, score=0.56 + n / 300).pk for n in range(60)]
    CandidateEdge.objects.filter(pk__in=ids[:30]).update(updated_at=timezone.now())  # rows out of the ids' order
    related = project.tiers.get(basis="cosine", name="Related")

    def manage():
        for n in range(few(15, at_least=4)):
            related.lower_bound = 0.65 if n % 2 else 0.7
            extra = Tier(name="Extra", lower_bound=0.6)
            change_tiers(project, [related, extra])
            change_tiers(project, [], [extra])
            rule = SensitiveRule(project=project, category=donor.category)
            add_sensitive(rule)
            remove_sensitive(project, rule.pk)
        return True

    def edit():
        for _ in range(few(30, at_least=8)):
            decide_edges(project, ids, Verb.ACCEPT, editor)
            undo(project, editor)
        return True

    assert race(manage, edit) == [True, True]
    tiers = project.tiers.filter(basis="cosine").order_by("-lower_bound")
    wrong = [
        edge for edge in CandidateEdge.objects.filter(pk__in=ids).select_related("tier")
        if edge.tier != tiers.filter(lower_bound__lte=edge.score).first()
    ]  # fmt: skip
    assert wrong == []


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_of_two_undos_at_once_one_wins(project, editor):
    edge = make_edge(project)
    (decision,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided

    def take_back():
        try:
            return len(undo(project, editor, decision).decided)
        except NothingToUndo:
            return 0

    assert sorted(race(take_back, take_back)) == [0, 1]
    assert log(edge) == ["accept", "undo"]


# -------------------------------------------------------------------------------------------- the anchor's place


FEET = "Care for feet\nSocks matter. Good socks last long, and wool socks keep warm.\nBoots need socks."


def with_place(project, phrase: str = "Good socks", **fields):
    start = FEET.index(phrase)
    span = {"span_start": start, "span_end": start + len(phrase)}
    return make_edge(project, make_page(project, body=FEET), anchor=phrase, **{**span, **fields})


def place_of(edge) -> tuple:
    edge.refresh_from_db()
    words = None if edge.span_start is None else FEET[edge.span_start : edge.span_end]
    return words, edge.placement, edge.content_gap


def gap(project, **fields):
    page = make_page(project, body=FEET)
    return make_edge(project, page, anchor="hats", content_gap=True, placement="related", **fields)


def test_an_edited_anchor_is_looked_for_in_the_text_anew(project, editor):
    edge = with_place(project)
    rewrite(project, edge, editor, "WOOL socks")
    assert place_of(edge) == ("wool socks", "inline", False)


def test_the_source_of_edited_words_is_the_editor_until_that_is_undone(project, editor):
    edge = with_place(project, anchor_source="h1")
    rewrite(project, edge, editor, "WOOL socks")
    edge.refresh_from_db()
    assert edge.anchor_source == "editor"
    undo(project, editor)
    edge.refresh_from_db()
    assert (edge.anchor, edge.anchor_source) == ("Good socks", "h1")


@pytest.mark.parametrize(("setting", "is_gap"), [("beside", False), ("gap", True)])
def test_an_edited_anchor_that_the_text_does_not_hold_goes_where_the_project_has_such_links_go(
    project, editor, setting, is_gap
):
    project.gap_links = setting
    project.save(update_fields=["gap_links"])
    edge = with_place(project)
    rewrite(project, edge, editor, "cotton socks")
    assert place_of(edge) == (None, "related", is_gap)
    assert Decision.objects.get().moved_to == setting


def test_undo_brings_a_link_back_into_the_text_that_lacked_the_words(project, editor):
    edge = with_place(project)
    rewrite(project, edge, editor, "cotton socks")
    undo(project, editor)
    assert place_of(edge) == ("Good socks", "inline", False)
    assert (edge.status, edge.anchor, edge.edited) == (EdgeStatus.SUGGESTED, "Good socks", False)


def test_who_wants_words_in_the_text_that_it_lacks_is_told(project, editor):
    edge = with_place(project)
    ruling = Ruling(anchor="cotton socks", where=Where.TEXT, overrules={edge.pk: CODES})
    with pytest.raises(AnchorError, match="The text does not hold “cotton socks”"):
        decide_edges(project, [edge.pk], Verb.EDIT, editor, ruling)
    assert place_of(edge) == ("Good socks", "inline", False)


def test_a_picked_anchor_takes_its_own_place(project, editor):
    start = FEET.rindex("socks")
    edge = with_place(
        project, anchor_alternatives=[{"text": "socks", "source": "h1", "start": start, "end": start + 5}]
    )
    rewrite(project, edge, editor, "socks")
    edge.refresh_from_db()
    assert edge.span_start == start


def test_words_that_carry_a_link_already_are_no_place(project, editor):
    edge = with_place(project)
    make_link(edge.source, make_page(project), anchor="wool socks")
    rewrite(project, edge, editor, "wool socks")
    assert place_of(edge)[0] is None


def test_words_that_an_accepted_link_stands_on_are_no_place(project, editor):
    edge = with_place(project)
    start = FEET.index("wool socks")
    make_edge(
        project, edge.source, anchor="wool socks", span_start=start, span_end=start + 10, status=EdgeStatus.ACCEPTED
    )
    rewrite(project, edge, editor, "wool socks")
    assert place_of(edge)[0] is None


@pytest.mark.parametrize("known", [{"h1": "Care for feet"}, {"headings": ["CARE for feet"]}])
@pytest.mark.parametrize("offered", [True, False])
def test_a_heading_of_the_page_is_no_place(project, editor, known, offered):
    alternatives = [{"text": "care for feet", "source": "h1", "start": 0, "end": 13}] if offered else []
    edge = with_place(project, anchor_alternatives=alternatives)
    type(edge.source).objects.filter(pk=edge.source_id).update(**known)
    rewrite(project, edge, editor, "care for feet")
    assert place_of(edge)[0] is None


def test_an_anchor_that_stands_in_the_text_closes_a_content_gap(project, editor):
    edge = gap(project)
    rewrite(project, edge, editor, "wool socks")
    assert place_of(edge) == ("wool socks", "inline", False)


def test_a_content_gap_accepted_as_one_stays_one(project, editor):
    project.gap_links = "gap"
    project.save(update_fields=["gap_links"])
    edge = gap(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    assert place_of(edge) == (None, "related", True)


def test_undo_gives_the_place_back(project, editor):
    edge = with_place(project)
    rewrite(project, edge, editor, "wool socks")
    undo(project, editor)
    assert place_of(edge)[0] == "Good socks"


def around(edge) -> tuple:
    edge.refresh_from_db()
    return edge.sentence, edge.section_heading, edge.body_hash


def test_the_sentence_and_the_heading_move_with_the_place(project, editor):
    edge = with_place(project, "Boots need")
    rewrite(project, edge, editor, "wool socks")
    said = "Good socks last long, and wool socks keep warm."
    assert around(edge) == (said, "Care for feet", edge.source.body_hash)
    undo(project, editor)
    assert around(edge) == ("Boots need socks.", "Care for feet", edge.source.body_hash)


def test_an_anchor_without_a_place_has_no_sentence(project, editor):
    edge = with_place(project, sentence="Good socks last long.", section_heading="Care for feet", body_hash=1)
    rewrite(project, edge, editor, "cotton socks")
    assert around(edge) == ("", "", None)


def test_a_place_that_an_import_took_away_comes_back_without_its_sentence(project, editor):
    edge = with_place(project)
    rewrite(project, edge, editor, "wool socks")
    type(edge.source).objects.filter(pk=edge.source_id).update(body="All new.")
    undo(project, editor)
    assert around(edge) == ("", "", None)


def test_a_decision_keeps_what_was_on_the_screen(project, editor):
    edge = with_place(project, ranked_by="learned", probability=0.6, quantile=0.9)
    decision = rewrite(project, edge, editor, "wool socks").decided[0]
    decision.refresh_from_db()
    assert (decision.seen_ranked_by, decision.seen_probability, decision.seen_quantile) == ("learned", 0.6, 0.9)
    assert FEET[decision.seen_span_start : decision.seen_span_end] == "Good socks"
    assert decision.seen_content_gap is False


def test_an_edge_knows_whether_a_person_decided_on_it(project, editor):
    """What left unreviewed must not teach the next run what editors like."""
    edge = make_edge(project)
    assert not edge.reviewed
    for verb in (Verb.ACCEPT, Verb.REJECT):
        decide_edges(project, [edge.pk], verb, editor, Ruling(reason="wrong_target" if verb == Verb.REJECT else ""))
        edge.refresh_from_db()
        assert edge.reviewed
        undo(project, editor)
        edge.refresh_from_db()
        assert not edge.reviewed
