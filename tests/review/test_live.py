"""Released links are looked for on the site by each import of links, and their life is written down."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from linker.matching.tiers import retier
from linker.models import Block, EdgeStatus, Page, Placement, Run, RunKind, RunStatus
from linker.runs import lifecycle
from linker.runs.reports import report_of
from review import decisions
from review.live import seeing
from review.live.funnel import funnel
from review.live.report import sentences
from review.live.start import start_if_due
from review.live.verify import verify
from review.models import Decision, LinkEvent, LiveState, Operation, PublishedLink, ReleaseLink, Verb
from review.releases import outgoing
from review.rulings import NothingToUndo
from review.undoing import undo
from tests.factories import make_edge, make_link, make_page, make_run
from tests.review.test_release import release_of


@pytest.fixture
def left(project):
    """A link in the text that was released to be followed."""
    edge = make_edge(
        project,
        status=EdgeStatus.ACCEPTED,
        rel="follow",
        anchor="warm socks",
        placement=Placement.INLINE,
        reviewed=True,
    )
    release_of(project)
    edge.refresh_from_db()
    return edge


def state_of(edge) -> str:
    return PublishedLink.objects.get(edge=edge).state


def life_of(edge) -> list[str]:
    return list(LinkEvent.objects.filter(edge=edge).order_by("pk").values_list("after", flat=True))


def gone(page: Page) -> None:
    Page.objects.filter(pk=page.pk).update(missing_since=timezone.now())


def moved(page: Page, to: Page) -> None:
    Page.objects.filter(pk=page.pk).update(leads_to=to, status_code=301)


def test_a_released_link_is_out_and_waits_to_be_found(left):
    published = PublishedLink.objects.get()

    assert (published.is_out, published.anchor, published.rel) == (True, "warm socks", "follow")
    assert (published.state, published.release.number) == (LiveState.SENT, 1)
    assert life_of(left) == [LiveState.SENT]


@pytest.mark.parametrize(
    ("anchor", "block", "follow", "state"),
    [
        ("warm socks", Block.CONTENT, True, LiveState.LIVE),
        ("Warm\N{NO-BREAK SPACE}socks", Block.CONTENT, True, LiveState.LIVE),
        ("warm socks", Block.UNKNOWN, True, LiveState.LIVE),
        ("cold feet", Block.CONTENT, True, LiveState.DIFFERENT),
        ("warm socks", Block.CONTENT, False, LiveState.DIFFERENT),
        ("warm socks", Block.NAVIGATION, True, LiveState.MISSING),
        ("warm socks", Block.ASIDE, True, LiveState.MISSING),
    ],
)
def test_a_link_in_the_text_is_live_where_the_text_has_it(project, left, anchor, block, follow, state):
    link = make_link(left.source, left.target, anchor, block)
    link.follow = follow
    link.save()

    verify(project)

    assert state_of(left) == state


def test_of_several_links_the_one_nearest_to_what_was_asked_for_counts(project, left):
    make_link(left.source, left.target, "read more")
    make_link(left.source, left.target, "warm socks")

    verify(project)

    assert state_of(left) == LiveState.LIVE


def test_a_link_that_the_import_no_longer_saw_is_not_live(project, left):
    link = make_link(left.source, left.target, "warm socks")
    link.missing_since = timezone.now()
    link.save()

    verify(project)

    assert state_of(left) == LiveState.MISSING


def test_a_target_that_moved_twice_is_found_where_it_is_now(project, left):
    halfway, end = make_page(project, "/halfway"), make_page(project, "/end")
    moved(left.target, end)
    moved(halfway, end)
    make_link(left.source, end, "warm socks")

    verify(project)

    published = PublishedLink.objects.get()
    assert (published.state, published.seen_anchor, published.seen_follow) == (LiveState.MOVED, "warm socks", True)


def test_a_donor_that_moved_is_read_where_it_is_now(project, left):
    end = make_page(project, "/end")
    moved(left.source, end)
    make_link(end, left.target, "warm socks")

    verify(project)

    assert state_of(left) == LiveState.LIVE


def test_pages_that_are_gone_are_named(project, left):
    other = make_edge(project, status=EdgeStatus.ACCEPTED, placement=Placement.INLINE)
    release_of(project)
    gone(left.source)
    gone(other.target)

    verify(project)

    assert (state_of(left), state_of(other)) == (LiveState.DONOR_GONE, LiveState.TARGET_GONE)


@pytest.mark.parametrize(
    ("acceptor", "state"),
    [
        ({"missing_since": timezone.now()}, LiveState.DEAD),
        ({"status": "removed", "state_since": timezone.now()}, LiveState.DEAD),
        ({"status_code": 404}, LiveState.DEAD),
        ({"status_code": 503}, LiveState.DEAD),
        ({"indexable": False}, LiveState.NOT_INDEXABLE),
        ({}, LiveState.LIVE),
    ],
)
def test_a_link_that_stands_there_says_whether_its_acceptor_is_there(project, left, acceptor, state):
    make_link(left.source, left.target, "warm socks")
    Page.objects.filter(pk=left.target_id).update(**acceptor)

    verify(project)

    assert state_of(left) == state


def test_a_link_that_leads_nowhere_is_listed_counted_and_can_only_be_withdrawn(
    project, left, manager, client_for, editor
):
    make_link(left.source, left.target, "warm socks")
    gone(left.target)
    report = verify(project)
    said = sentences(report)
    assert "0 of 1 released links are live as they were released." in said
    assert "1 link leads nowhere: its acceptor is gone." in said
    assert "Leads nowhere" in client_for(manager).get(f"/p/{project.slug}/export/live/").content.decode()
    assert [step.links for step in funnel(project).steps if step.name == "Found on the site"] == [0]
    assert outgoing.ask_again(project, project.edges.all(), editor) == 0
    assert outgoing.withdraw(project, project.edges.all(), editor) == 1


def test_a_link_whose_acceptor_is_back_is_live_again(project, left):
    make_link(left.source, left.target, "warm socks")
    gone(left.target)
    verify(project)
    Page.objects.update(missing_since=None)
    verify(project)
    assert life_of(left) == [LiveState.SENT, LiveState.DEAD, LiveState.LIVE]


def test_a_link_that_was_live_and_has_gone_comes_back_to_the_queue(project, left):
    link = make_link(left.source, left.target, "warm socks")
    verify(project)
    link.missing_since = timezone.now()
    link.save()

    report = verify(project)

    left.refresh_from_db()
    assert (left.status, left.regressed, left.stale) == (EdgeStatus.SUGGESTED, True, False)
    assert life_of(left) == [LiveState.SENT, LiveState.LIVE, LiveState.LOST]
    assert (report.looked_for, report.changed, report.reopened) == (1, 1, 1)


def test_a_lost_link_that_is_back_leaves_the_queue_again(project, left):
    link = make_link(left.source, left.target, "warm socks")
    verify(project)
    for missing in (timezone.now(), None):
        link.missing_since = missing
        link.save()
        verify(project)

    left.refresh_from_db()
    assert (left.status, left.regressed) == (EdgeStatus.EXPORTED, False)
    assert state_of(left) == LiveState.LIVE


@pytest.mark.nightly
def test_a_link_that_is_to_be_removed_does_not_come_back_to_the_queue(project, left, editor):
    link = make_link(left.source, left.target, "warm socks")
    verify(project)
    outgoing.withdraw(project, project.edges.all(), editor)
    link.missing_since = timezone.now()
    link.save()

    verify(project)

    left.refresh_from_db()
    assert (left.status, state_of(left)) == (EdgeStatus.EXPORTED, LiveState.LOST)
    release_of(project)
    assert state_of(left) == LiveState.REMOVED


@pytest.fixture
def lost(project, left):
    link = make_link(left.source, left.target, "warm socks")
    verify(project)
    link.missing_since = timezone.now()
    link.save()
    verify(project)
    left.refresh_from_db()
    return left


@pytest.mark.nightly
def test_a_lost_link_that_is_accepted_is_asked_for_again(project, lost, editor):
    decisions.decide_edges(project, [lost.pk], Verb.ACCEPT, editor)

    release = release_of(project)

    lost.refresh_from_db()
    assert [link.operation for link in release.release_links.all()] == [Operation.ADD]
    assert (lost.status, lost.regressed, state_of(lost)) == (EdgeStatus.EXPORTED, False, LiveState.SENT)


@pytest.mark.nightly
def test_a_decision_that_a_link_was_released_by_is_not_undone_when_the_link_is_lost(project, edge, editor):
    (accepted,) = decisions.decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    release_of(project)
    edge.refresh_from_db()
    PublishedLink.objects.update(state=LiveState.MISSING)
    seeing.reopen(project, [edge.pk], editor, "")

    for decision in (accepted, None):
        with pytest.raises(NothingToUndo):
            undo(project, editor, decision)
    (again,) = decisions.decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    undo(project, editor)

    edge.refresh_from_db()
    assert (edge.status, edge.regressed) == (EdgeStatus.SUGGESTED, True)
    assert Decision.objects.get(verb=Verb.UNDO).undoes == again


def test_a_link_that_a_person_put_back_into_the_queue_stays_there_whatever_tiers_say(project, left, editor):
    make_link(left.source, left.target, "other words")
    verify(project)
    seeing.reopen(project, [left.pk], editor, "")

    retier(project)

    left.refresh_from_db()
    assert (left.status, left.regressed, left.stale) == (EdgeStatus.SUGGESTED, True, False)


@pytest.mark.nightly
def test_a_lost_link_that_is_rejected_is_taken_off_what_is_out_by_the_next_release(project, lost, editor):
    decisions.decide_edges(project, [lost.pk], Verb.REJECT, editor)

    release = release_of(project)

    lost.refresh_from_db()
    published = PublishedLink.objects.get()
    assert [link.operation for link in release.release_links.all()] == [Operation.REMOVE]
    assert (lost.status, published.is_out, published.state) == (EdgeStatus.REJECTED, False, LiveState.REMOVED)


@pytest.mark.nightly
def test_a_removal_is_done_when_the_site_no_longer_shows_the_link(project, left, editor):
    link = make_link(left.source, left.target, "warm socks")
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    verify(project)
    before = state_of(left)
    link.missing_since = timezone.now()
    link.save()

    verify(project)

    assert (before, state_of(left)) == (LiveState.STILL_THERE, LiveState.REMOVED)


def test_looking_twice_changes_nothing(project, left):
    verify(project)
    before = list(PublishedLink.objects.values("state", "since")), life_of(left)

    report = verify(project)

    assert (list(PublishedLink.objects.values("state", "since")), life_of(left)) == before
    assert report.changed == 0


def test_the_life_of_a_link_cannot_be_rewritten(left):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        LinkEvent.objects.update(after=LiveState.LIVE)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_import_of_links_starts_the_look_and_the_run_says_what_it_found(project, left, run_jobs):
    imported = lifecycle.start_run(project, RunKind.IMPORT_LINKS, {}, to_queue=False)
    make_link(left.source, left.target, "warm socks")

    lifecycle.succeed(imported.pk, {})

    run_jobs()

    run = Run.objects.get(kind=RunKind.VERIFY)
    assert (run.status, report_of(run).states) == (RunStatus.SUCCEEDED, {LiveState.LIVE: 1})
    assert start_if_due(run) is None
    assert state_of(left) == LiveState.LIVE


def test_what_is_imported_during_a_look_that_fails_is_looked_at_by_another(project, left):
    looks = project.runs.filter(kind=RunKind.VERIFY)
    run = make_run(project, RunKind.VERIFY, RunStatus.RUNNING, started_at=timezone.now())
    imported = make_run(project, RunKind.IMPORT_LINKS, finished_at=timezone.now())
    assert start_if_due(imported) is None, "it is under way"
    lifecycle.fail_run(run.pk, "Other work held the same rows.")
    another = looks.get(status=RunStatus.QUEUED)
    looks.filter(pk=another.pk).update(status=RunStatus.RUNNING, started_at=timezone.now())
    lifecycle.fail_run(another.pk, "Other work held the same rows.")
    assert not looks.filter(status=RunStatus.QUEUED).exists(), "nothing was imported meanwhile"


def test_a_file_of_pages_starts_the_look_and_the_pages_of_a_fetch_leave_it_to_their_links(project, left):
    fetch = make_run(project, RunKind.FETCH)
    of_fetch = make_run(project, RunKind.IMPORT_PAGES, follows=fetch, finished_at=timezone.now())
    assert start_if_due(of_fetch) is None
    of_file = make_run(project, RunKind.IMPORT_PAGES, finished_at=timezone.now())
    assert start_if_due(of_file).kind == RunKind.VERIFY


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_page_event_starts_the_look_as_an_import_of_links_does(project, left, run_jobs):
    told = ["page_event", project.slug, "removed", left.target.url, "--at", "2026-03-01T09:00:00Z"]
    call_command(*told, stdout=StringIO())
    call_command(*told, stdout=StringIO())  # which is no news

    run_jobs()

    run = Run.objects.get(kind=RunKind.IMPORT_EVENTS)
    assert (run.status, run.params["event"], report_of(run).removed) == (RunStatus.SUCCEEDED, "removed", 1)
    assert Run.objects.get(kind=RunKind.VERIFY).status == RunStatus.SUCCEEDED
    assert state_of(left) == LiveState.TARGET_GONE


@pytest.mark.nightly
def test_what_is_out_is_the_sum_of_what_was_released(project, left, editor):
    for act in (
        lambda: outgoing.confirm(project, project.edges.all(), editor, "nofollow"),
        lambda: outgoing.withdraw(project, project.edges.all(), editor),
    ):
        act()
        release_of(project)
        last = ReleaseLink.objects.latest("pk")
        published = PublishedLink.objects.get()
        assert (published.is_out, published.rel) == (last.operation != Operation.REMOVE, last.rel)
        assert published.release_id == last.release_id
