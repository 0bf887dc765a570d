"""The life of a link tells decisions, releases and what the site showed in one order, with who and when."""

from __future__ import annotations

import pytest
from django.utils import translation

from linker.models import EdgeStatus, Placement, Rel
from review import undoing
from review.decisions import decide_edges
from review.live import seeing
from review.live.life import life_of
from review.live.verify import verify
from review.models import Reason, Verb
from review.releases import create, drafts, outgoing
from review.rulings import Ruling, Shown
from tests.factories import make_edge, make_link, make_member
from tests.markup import compact
from tests.review.test_release import release_of


@pytest.fixture
def edge(project):
    return make_edge(project, anchor="warm socks", rel="follow", placement=Placement.INLINE)


def whats(edge) -> list[str]:
    return [moment.what for moment in life_of(edge)]


@pytest.mark.nightly
def test_a_life_is_told_from_the_first_decision_to_the_last_look(project, edge, editor):
    ada = make_member(project, username="ada")
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    verify(project)
    outgoing.ask_again(project, project.edges.all(), ada, "forgotten")
    release_of(project)
    link = make_link(edge.source, edge.target, "warm socks")
    verify(project)
    outgoing.withdraw(project, project.edges.all(), ada, "no longer sold")
    release_of(project)
    link.delete()
    verify(project)

    life = life_of(edge)

    assert [(moment.what, str(moment.user or moment.release or ""), moment.note) for moment in life] == [
        ("Accepted", editor.username, ""),
        ("Released", "Release 1", ""),
        ("Not found", "", ""),
        ("Asked for again", "ada", "forgotten"),
        ("Released again", "Release 2", ""),
        ("Live", "", ""),
        ("Withdrawn", "ada", "no longer sold"),
        ("Removal released", "Release 3", ""),
        ("Removed", "", ""),
    ]
    assert [moment.at for moment in life] == sorted(moment.at for moment in life)


@pytest.mark.nightly
def test_what_was_undone_confirmed_and_reopened_is_told(project, edge, editor):
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    undoing.undo(project, editor)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    outgoing.confirm(project, project.edges.all(), editor, Rel.UGC)
    release_of(project)
    verify(project)
    seeing.close(project, [edge.pk], editor, "on the list")
    seeing.reopen(project, [edge.pk], editor, "words differ")
    rejected = Ruling(reason=Reason.OUTDATED)
    decide_edges(project, [edge.pk], Verb.REJECT, editor, rejected, Shown(EdgeStatus.SUGGESTED))

    life = life_of(edge)

    assert [moment.what for moment in life] == [
        "Accepted", "Undone: Accepted", "Accepted", "Released", "Confirmed", "Change released", "Not found",
        "Closed: on the list", "Back to the queue: words differ", "Rejected",
    ]  # fmt: skip
    assert [moment.rel for moment in life if moment.what == "Change released"] == ["ugc"]
    assert life[-1].note == "Page out of date"


@pytest.mark.nightly
def test_a_roll_back_is_told(project, edge, editor):
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    first = release_of(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    draft = drafts.make_roll_back(first, editor)
    drafts.fill(draft)
    create.publish(draft, editor)

    assert whats(edge) == ["Accepted", "Released", "Rolled back", "Removal released"]


def test_what_people_did_is_kept_in_english_and_told_in_the_language_of_the_reader(project, edge, editor):
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    verify(project)
    with translation.override("de"):
        seeing.give(project, [edge.pk], editor, editor.pk)
        german = whats(edge)[-1]

    assert whats(edge)[-1] == f"Given to {editor.username}"
    assert german not in ("", whats(edge)[-1])


@pytest.mark.nightly
def test_a_life_costs_the_same_queries_however_long_it_is(project, edge, editor, django_assert_num_queries):
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    for rel in (Rel.UGC, Rel.FOLLOW, Rel.NOFOLLOW):
        outgoing.confirm(project, project.edges.all(), editor, rel)
        release_of(project)

    with django_assert_num_queries(4):
        for moment in life_of(edge):
            str(moment.user or moment.release)


@pytest.mark.nightly
def test_the_page_says_who_and_when(project, edge, client_for, editor, viewer):
    before = compact(client_for(viewer).get(f"/p/shop/export/live/{edge.pk}/").content.decode())
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    outgoing.withdraw(project, project.edges.all(), editor, "no longer sold")

    page = compact(client_for(viewer).get(f"/p/shop/export/live/{edge.pk}/").content.decode())

    assert "Nobody has decided on this link yet" in before
    for word in ("Withdrawn", "no longer sold", editor.username, "Release 1", "Now: Released", "Remove"):
        assert word in page
