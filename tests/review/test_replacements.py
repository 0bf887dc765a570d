"""A link that replaces a released one leaves with its removal, or not at all; and an editor decides."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from linker.matching.full_pages import take_out
from linker.matching.tiers import retier
from linker.models import EdgeStatus, Gate, Page, Replacement, ReplacementEnd
from review import decisions, undoing
from review.models import Held, PublishedLink, ReleaseFormat, Verb
from review.releases import create, outgoing
from review.releases.create import NothingToExport
from review.rulings import Shown
from tests.factories import lenient_tiers, make_edge, make_link, make_page, make_replacement, make_run
from tests.markup import compact
from tests.review.test_drafts import back_to, draft_of, out, rows
from tests.review.test_release import release_of


@pytest.fixture
def old(project):
    """A released link of a page that has room for one link beside its text."""
    make_run(project, params={"related_per_donor": 1, "inline_per_donor": 0})
    target = make_page(project, title="Wool socks")
    edge = make_edge(
        project,
        target=target,
        score=0.7,
        placement="related",
        status=EdgeStatus.ACCEPTED,
        anchor="wool socks",
        reviewed=True,
    )
    release_of(project)
    edge.refresh_from_db()
    return edge


@pytest.fixture
def better(project, old):
    edge = make_edge(project, old.source, score=0.75, placement="related", anchor="warm boots")
    make_replacement(edge, old, old=0.61, new=0.78)
    return edge


def decide(project, edge, verb, user):
    outcome = decisions.decide_edges(project, [edge.pk], verb, user)
    edge.refresh_from_db()
    return outcome


@pytest.mark.nightly
def test_an_accept_asks_nothing_and_the_next_release_adds_one_and_removes_the_other(project, old, better, editor):
    outcome = decide(project, better, Verb.ACCEPT, editor)

    release = release_of(project)

    assert (len(outcome.decided), outcome.doubts) == (1, ())
    assert sorted((operation, anchor) for operation, anchor, _ in rows(release)) == [
        ("add", "warm boots"),
        ("remove", "wool socks"),
    ]
    old.refresh_from_db()
    assert (set(out(project)), old.status) == ({better.pk}, EdgeStatus.WITHDRAWN)
    assert Replacement.objects.get().end == ReplacementEnd.RELEASED


def test_without_what_it_replaces_the_page_is_full(project, old, better, editor):
    Replacement.objects.all().delete()

    [doubt] = decide(project, better, Verb.ACCEPT, editor).doubts

    assert [warning.code for warning in doubt.warnings] == ["donor_full"]


@pytest.mark.nightly
def test_a_roll_back_takes_both_back(project, old, better, editor):
    first = project.releases.get()
    decide(project, better, Verb.ACCEPT, editor)
    release_of(project)

    create.publish(back_to(first, editor), editor)

    assert set(out(project)) == {old.pk}


def test_a_roll_back_of_which_one_half_must_stay_leaves_both(project, old, better, editor):
    first = project.releases.get()
    decide(project, better, Verb.ACCEPT, editor)
    release_of(project)
    Page.objects.filter(pk=old.target_id).update(missing_since=timezone.now())

    with pytest.raises(NothingToExport):
        create.publish(back_to(first, editor), editor)

    assert set(out(project)) == {better.pk}


@pytest.mark.nightly
def test_a_draft_shows_both_and_publishes_both(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)

    draft = draft_of(project, editor)
    create.publish(draft, editor)

    assert (draft.added, draft.removed, draft.held) == (1, 1, 0)
    assert set(out(project)) == {better.pk}


@pytest.mark.nightly
def test_an_accept_that_is_undone_after_the_draft_takes_neither(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)
    draft = draft_of(project, editor)
    undoing.undo(project, editor)

    with pytest.raises(NothingToExport):
        create.publish(draft, editor)

    assert set(out(project)) == {old.pk}


@pytest.mark.nightly
def test_an_undone_accept_is_an_open_replacement_again(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)

    undoing.undo(project, editor)

    with pytest.raises(NothingToExport):
        release_of(project)
    better.refresh_from_db()
    assert (better.status, Replacement.objects.get().ended_at) == (EdgeStatus.SUGGESTED, None)


def test_where_the_new_link_must_stay_the_old_one_stays_too(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)
    Page.objects.filter(pk=better.target_id).update(missing_since=timezone.now())

    draft = draft_of(project, editor)

    assert (draft.added, draft.removed, draft.held_for) == (0, 0, {Held.GONE: 1, Held.PAIR: 1})


def test_a_file_without_a_word_for_removals_takes_neither(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)

    with pytest.raises(NothingToExport):
        release_of(project, fmt=ReleaseFormat.JOIL)

    assert set(out(project)) == {old.pk}


def test_a_release_of_the_new_link_alone_takes_the_old_one_off(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)

    create.create_release(project, project.edges.filter(pk=better.pk))

    assert set(out(project)) == {better.pk}


def test_a_change_of_the_old_link_that_waits_gives_way_to_its_removal(project, old, better, editor):
    outgoing.confirm(project, project.edges.filter(pk=old.pk), editor, "ugc")
    decide(project, better, Verb.ACCEPT, editor)

    release = release_of(project)

    assert {row[0] for row in rows(release)} == {"add", "remove"}
    assert set(out(project)) == {better.pk}


def test_a_link_that_somebody_withdraws_leaves_whatever_becomes_of_the_new_one(project, old, better, editor):
    decide(project, better, Verb.ACCEPT, editor)
    outgoing.withdraw(project, project.edges.filter(pk=old.pk), editor)
    Page.objects.filter(pk=better.target_id).update(missing_since=timezone.now())

    release = release_of(project)

    assert [row[0] for row in rows(release)] == ["remove"]


def test_a_tier_that_exports_unreviewed_replaces_nothing(project, old, better):
    lenient_tiers(project)

    draft = draft_of(project)

    assert (draft.added, draft.removed, draft.held_for) == (0, 0, {Held.PAIR: 1})


def test_a_link_that_the_site_shows_is_replaced_within_its_room(project, old, better, editor):
    make_link(old.source, old.target, "wool socks")
    run = old.run
    run.params = {"related_per_donor": 5, "related_in_all": 1, "inline_per_donor": 0}
    run.save()
    decide(project, better, Verb.ACCEPT, editor)

    release = release_of(project)

    assert {row[0] for row in rows(release)} == {"add", "remove"}


def test_a_rejection_leaves_the_old_link_standing(project, old, better, editor):
    decide(project, better, Verb.REJECT, editor)

    with pytest.raises(NothingToExport):
        release_of(project)

    assert set(out(project)) == {old.pk}


def test_of_two_editors_the_second_changes_nothing(project, old, better, editor, manager):
    decide(project, better, Verb.ACCEPT, editor)

    second = decisions.decide_edges(project, [better.pk], Verb.REJECT, manager, shown=Shown())

    assert (second.decided, len(second.conflicts)) == ((), 1)
    assert {row[0] for row in rows(release_of(project))} == {"add", "remove"}


def test_caps_and_tiers_leave_it_in_the_queue(project, old, better):
    with transaction.atomic():
        assert take_out(project) == 0
    retier(project)
    better.refresh_from_db()
    assert (better.stale, better.placement) == (False, "related")


def test_a_gate_of_what_goes_needs_a_second_person(project, old, better, editor):
    Page.objects.filter(pk=old.target_id).update(clicks=20_000)
    Gate.objects.create(project=project, min_clicks=10_000)

    decide(project, better, Verb.ACCEPT, editor)
    draft = draft_of(project, editor)

    assert better.waits
    assert (draft.added, draft.removed) == (0, 0)


def test_a_released_link_is_replaced_by_one_only(project, old, better):
    other = make_edge(project, old.source)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_replacement(other, old)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_replacement(better, make_edge(project, old.source))
    with pytest.raises(IntegrityError), transaction.atomic():
        make_replacement(other, make_edge(project, old.source), old=0.5, new=0.59)


def test_the_card_says_what_it_replaces(project, old, better, client_for, editor):
    PublishedLink.objects.update(released_at=timezone.now().replace(year=2026, month=3, day=4))

    page = compact(client_for(editor).get(f"/p/shop/queue/?tier={better.tier_id}").content.decode())

    assert "Would replace the link to Wool socks (“wool socks”), released on 4 Mar 2026." in page
    assert "Probability: 61% → 78%." in page


def test_an_outsider_neither_sees_nor_decides(project, old, better, client_for, outsider):
    client = client_for(outsider)

    assert client.get("/p/shop/queue/").status_code == 404
    client.post(f"/p/shop/queue/{better.pk}/decide/", {"verb": "accept"})
    better.refresh_from_db()
    assert better.status == EdgeStatus.SUGGESTED
