"""The page of released links on the site, drafts looked through in the browser, and releases compared."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from linker.models import EdgeStatus, Membership, Page, PageAddress, PageEvent, Placement
from review.decisions import decide_edges
from review.live.verify import verify
from review.models import LinkEvent, LiveState, Operation, Pending, PublishedLink, Release, ReleaseDraft, Verb
from review.releases import create, outgoing, readdressed
from review.rulings import Shown
from tests.factories import make_edge, make_link, make_member, make_project
from tests.markup import compact
from tests.review.test_release import release_of

EXPORT = "/p/shop/export/"
LIVE = f"{EXPORT}live/"


@pytest.fixture
def left(project):
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


def text(client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return compact(response.content.decode())


def test_the_page_says_what_is_found_on_the_site(project, left, client_for, viewer):
    make_link(left.source, left.target, "cold feet")
    verify(project)

    page = text(client_for(viewer), LIVE)

    assert "Live, with other words or another rel" in page
    assert "cold feet" in page
    assert '<strong class="funnel__links">1</strong>' in page


def test_nothing_is_listed_before_anything_was_looked_for(project, left, client_for, viewer):
    assert "Nothing to see to" in text(client_for(viewer), LIVE)


@pytest.mark.nightly
def test_links_are_listed_by_how_long_they_have_been_so(project, client_for, viewer, monkeypatch):
    monkeypatch.setattr("review.live.funnel.PAGE_SIZE", 2)
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}") for n in range(3)]
    release_of(project)
    verify(project)
    for days, edge in enumerate(edges):
        PublishedLink.objects.filter(edge=edge).update(since=timezone.now() - timedelta(days=days))
    client = client_for(viewer)

    first = client.get(LIVE)
    rest = client.get(f"{LIVE}?{first.context['more']}")

    assert [link.edge for link in first.context["links"]] == [edges[2], edges[1]]
    assert [link.edge for link in rest.context["links"]] == [edges[0]]
    assert [link.edge for link in client.get(f"{LIVE}?days=1").context["links"]] == [edges[2], edges[1]]


@pytest.mark.parametrize(
    ("also", "listed", "asks", "says"),
    [
        (False, "1 removal", "Remove 1 link", "Release 2 removes 1 link."),
        (True, "2 links", "Publish 2 links (1 removal)", "Release 2 holds 2 links. 1 of them is a removal."),
    ],
)
def test_a_draft_that_removes_links_says_so(project, left, client_for, editor, also, listed, asks, says):
    outgoing.withdraw(project, project.edges.filter(pk=left.pk), editor)
    if also:
        make_edge(project, status=EdgeStatus.ACCEPTED)
    client = client_for(editor)
    client.post(f"{EXPORT}drafts/", {"format": "full"})
    draft = ReleaseDraft.objects.get()
    page = f"{EXPORT}drafts/{draft.pk}/"

    assert f"> {listed} </a>" in text(client, EXPORT)
    assert asks in text(client, page)
    assert says in compact(client.post(f"{page}publish/", follow=True).content.decode())


@pytest.mark.nightly
def test_links_that_lead_nowhere_are_listed_before_those_that_have_waited_longer(
    project, client_for, viewer, monkeypatch
):
    monkeypatch.setattr("review.live.funnel.PAGE_SIZE", 2)
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}") for n in range(7)]
    release_of(project)
    verify(project)
    for days, edge in enumerate(edges):
        state = LiveState.DEAD if days in (0, 2, 5) else LiveState.MISSING
        since = timezone.now() - timedelta(days=days)
        PublishedLink.objects.filter(edge=edge).update(since=since, state=state)
    client, listed, more = client_for(viewer), [], ""
    for _screen in range(4):
        screen = client.get(f"{LIVE}?{more}")
        listed += [edges.index(link.edge) for link in screen.context["links"]]
        more = screen.context["more"]
    assert (listed, more) == ([5, 2, 0, 6, 4, 3, 1], "")
    only = client.get(f"{LIVE}?state=dead")
    rest = client.get(f"{LIVE}?{only.context['more']}")
    assert [edges.index(link.edge) for link in (*only.context["links"], *rest.context["links"])] == [5, 2, 0]


@pytest.mark.nightly
def test_a_missing_link_is_asked_for_again_and_the_next_release_adds_it(project, left, client_for, editor):
    verify(project)

    client_for(editor).post(f"{LIVE}do/", {"do": "ask", "link": left.pk, "note": "forgotten"})

    assert Pending.objects.get().operation == Operation.ADD
    release = release_of(project)
    assert [link.operation for link in release.release_links.all()] == [Operation.ADD]
    assert PublishedLink.objects.get().state == LiveState.SENT


def test_a_link_with_other_words_is_asked_for_as_a_change(project, left, client_for, editor):
    make_link(left.source, left.target, "cold feet")
    verify(project)

    client_for(editor).post(f"{LIVE}do/", {"do": "ask", "link": left.pk})

    assert Pending.objects.get().operation == Operation.CHANGE


@pytest.mark.nightly
def test_a_link_is_closed_with_a_word_why_and_leaves_the_list(project, left, client_for, editor):
    verify(project)
    client = client_for(editor)

    client.post(f"{LIVE}do/", {"do": "close", "link": left.pk, "note": ""})
    without = PublishedLink.objects.get().closed_at
    client.post(f"{LIVE}do/", {"do": "close", "link": left.pk, "note": "the page is being rewritten"})

    link = PublishedLink.objects.get()
    assert (without, link.closed_by, link.closed_note) == (None, editor, "the page is being rewritten")
    assert LinkEvent.objects.latest("pk").note == "Closed: the page is being rewritten"
    assert client.get(LIVE).context["links"] == []
    assert [one.edge for one in client.get(f"{LIVE}?closed=on").context["links"]] == [left]


@pytest.mark.nightly
def test_a_link_that_somebody_closed_meanwhile_is_not_asked_for_by_a_list_that_showed_it_open(
    project, left, client_for, editor
):
    other = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="other words", reviewed=True)
    release_of(project)
    verify(project)
    client = client_for(editor)
    client.post(f"{LIVE}do/", {"link": [left.pk], "do": "close", "note": "as agreed"})

    stale = {"link": [left.pk, other.pk], "do": "ask", "query": ""}
    page = compact(client.post(f"{LIVE}do/", stale, follow=True).content.decode())

    assert "1 link is asked for again with the next release. 1 other stays as it is" in page
    assert list(Pending.objects.values_list("edge", flat=True)) in ([], [other.pk])
    closed = {"link": [left.pk], "do": "ask", "query": "closed=on"}
    assert "1 link is asked for again" in compact(client.post(f"{LIVE}do/", closed, follow=True).content.decode())


@pytest.mark.nightly
def test_what_cannot_be_done_is_refused_with_its_reason(project, left, client_for, editor):
    client = client_for(editor)

    def said(what: str) -> str:
        return compact(client.post(f"{LIVE}do/", {"do": what, "link": left.pk}, follow=True).content.decode())

    assert "Nothing was changed: 1 as released." in said("reopen")
    type(left.target).objects.filter(pk=left.target_id).update(missing_since=timezone.now())
    verify(project)
    assert "Nothing was changed: 1 without one of the pages, and only to be withdrawn." in said("ask")
    assert "1 link" in said("withdraw")
    assert "Nothing was changed: 1 to be removed already." in said("withdraw")
    assert "Nothing was changed: 1 with something asked for already." in said("ask")


def test_closed_links_stand_beside_the_states_so_that_all_add_up_to_the_released(project, left, client_for, editor):
    verify(project)
    client = client_for(editor)
    client.post(f"{LIVE}do/", {"do": "close", "link": left.pk, "note": "fine"})
    shown = client.get(LIVE).context["funnel"]
    assert sum(shown.states.values()) + shown.closed == shown.steps[2].links == 1
    assert "Closed, as they are" in compact(client.get(LIVE).content.decode())


@pytest.mark.nightly
def test_links_of_somebody_who_left_are_found_among_those_with_nobody(project, left, client_for, editor):
    verify(project)
    colleague, viewer = make_member(project, "editor"), make_member(project, "viewer")
    client = client_for(editor)
    page = compact(
        client.post(f"{LIVE}do/", {"do": "give", "link": left.pk, "owner": viewer.pk}, follow=True).content.decode()
    )
    assert "a viewer may not see to links" in page
    client.post(f"{LIVE}do/", {"do": "give", "link": left.pk, "owner": colleague.pk})
    assert client.get(f"{LIVE}?owner=0").context["links"] == []
    Membership.objects.filter(user=colleague).delete()
    page = client.get(f"{LIVE}?owner=0")
    assert [one.edge for one in page.context["links"]] == [left]
    assert "has left" in compact(page.content.decode())


def test_a_closed_link_that_changes_is_open_again(project, left, client_for, editor):
    verify(project)
    client_for(editor).post(f"{LIVE}do/", {"do": "close", "link": left.pk, "note": "fine"})
    make_link(left.source, left.target, "cold feet")

    verify(project)

    assert PublishedLink.objects.get().closed_at is None


def test_a_link_is_given_to_a_member_and_to_nobody_else(project, left, client_for, editor, outsider):
    verify(project)
    colleague = make_member(project, "editor")
    client = client_for(editor)

    client.post(f"{LIVE}do/", {"do": "give", "link": left.pk, "owner": outsider.pk})
    first = PublishedLink.objects.get().owner
    client.post(f"{LIVE}do/", {"do": "give", "link": left.pk, "owner": colleague.pk})

    assert (first, PublishedLink.objects.get().owner) == (None, colleague)


def test_a_link_goes_back_to_the_queue(project, left, client_for, editor):
    verify(project)

    client_for(editor).post(f"{LIVE}do/", {"do": "reopen", "link": left.pk})

    left.refresh_from_db()
    assert (left.status, left.regressed) == (EdgeStatus.SUGGESTED, True)
    assert "Back to the queue" in text(client_for(editor), f"{LIVE}{left.pk}/")


@pytest.mark.nightly
def test_a_lost_link_is_in_the_queue_with_a_sign_whatever_its_tier(project, left, client_for, editor):
    link = make_link(left.source, left.target, "warm socks")
    verify(project)
    link.delete()
    verify(project)
    make_edge(project)
    project.edges.filter(pk=left.pk).update(tier=None)

    queue = text(client_for(editor), "/p/shop/queue/?regressed=1")

    assert "Back from the site" in queue
    assert f'data-edge="{left.pk}"' in queue


@pytest.mark.nightly
def test_a_link_of_another_project_is_not_touched(project, left, client_for, editor):
    other = make_project("other")
    theirs = make_edge(other, status=EdgeStatus.ACCEPTED)
    release_of(other)
    verify(other)

    client_for(editor).post(f"{LIVE}do/", {"do": "close", "link": theirs.pk, "note": "mine now"})

    assert PublishedLink.objects.get(edge=theirs).closed_at is None


@pytest.mark.nightly
def test_a_draft_is_looked_through_and_published(project, client_for, editor):
    make_edge(project, status=EdgeStatus.ACCEPTED, anchor="warm socks", reviewed=True)
    client = client_for(editor)

    client.post(f"{EXPORT}drafts/", {"format": "full"})
    draft = ReleaseDraft.objects.get()
    page = text(client, f"{EXPORT}drafts/{draft.pk}/")
    client.post(f"{EXPORT}drafts/{draft.pk}/publish/")

    assert "Publish 1 link" in page
    assert "warm socks" in page
    assert Release.objects.get().links == 1
    assert "Published as release 1" in text(client, f"{EXPORT}drafts/{draft.pk}/")


@pytest.mark.nightly
def test_a_draft_says_what_was_decided_otherwise_since(project, client_for, editor):
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True) for _ in range(3)]
    client = client_for(editor)
    client.post(f"{EXPORT}drafts/", {"format": "full"})
    page = f"{EXPORT}drafts/{ReleaseDraft.objects.get().pk}/"
    before = text(client, page)
    decide_edges(project, [edges[0].pk], Verb.REJECT, editor, shown=Shown(EdgeStatus.ACCEPTED))

    after = text(client, page)

    assert "Publish 3 links" in before
    assert "otherwise since the draft" not in before
    assert "1 of these links is left out when the draft is published: it was changed or decided otherwise" in after
    assert "Publish 2 links" in after
    assert [row.edge for row in client.get(f"{page}?reason=changed").context["rows"]] == [edges[0]]


@pytest.mark.nightly
def test_a_large_draft_is_made_and_published_in_the_background(
    project, client_for, editor, run_jobs, monkeypatch, transactional_db
):
    monkeypatch.setattr(create, "MAX_IN_REQUEST", 1)
    for _ in range(2):
        make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    client = client_for(editor)

    client.post(f"{EXPORT}drafts/", {"format": "full"})
    draft = ReleaseDraft.objects.get()
    before = text(client, f"{EXPORT}drafts/{draft.pk}/")
    run_jobs()
    client.post(f"{EXPORT}drafts/{draft.pk}/publish/")
    run_jobs()

    assert "The draft is being made" in before
    assert Release.objects.get().links == 2


@pytest.mark.nightly
def test_rolling_back_is_a_draft_that_only_a_manager_publishes(project, left, client_for, editor, manager):
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    release_of(project)

    client_for(manager).post(f"{EXPORT}1/roll-back/")
    draft = ReleaseDraft.objects.get()
    refused = client_for(editor).post(f"{EXPORT}drafts/{draft.pk}/publish/")
    client_for(manager).post(f"{EXPORT}drafts/{draft.pk}/publish/")

    assert refused.status_code == 403
    assert (Release.objects.get(number=3).removed, Release.objects.get(number=3).back_to.number) == (1, 1)


@pytest.mark.nightly
def test_two_releases_are_compared(project, left, client_for, viewer):
    late = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="late words", reviewed=True)
    release_of(project)

    response = client_for(viewer).get(f"{EXPORT}diff/?older=1&newer=2")

    [row] = response.context["rows"]
    assert (row.edge, row.operation, row.anchor_before, row.anchor_after) == (late, Operation.ADD, "", "late words")
    assert (response.context["counts"].added, response.context["counts"].is_all) == (1, True)


def test_releases_that_are_none_are_not_compared(project, left, client_for, viewer):
    assert client_for(viewer).get(f"{EXPORT}diff/?older=1&newer=9").status_code == 302


@pytest.mark.nightly
def test_compared_releases_show_both_addresses_of_a_link_whose_page_has_moved(project, left, client_for, viewer):
    page, old = left.target, left.target.url
    at = timezone.now()
    PageAddress.objects.create(project=project, page=page, url=old, canonical_url=old, until=at)
    PageEvent.objects.create(
        project=project, page=page, kind="moved", old_url=old, new_url=f"{old}-new", at=at, origin="crawl"
    )
    Page.objects.filter(pk=page.pk).update(url=f"{old}-new")
    readdressed.readdress(project)
    release_of(project)

    response = client_for(viewer).get(f"{EXPORT}diff/?older=1&newer=2")

    [row] = response.context["rows"]
    assert (row.operation, row.is_readdressed) == (Operation.CHANGE, True)
    assert (row.before.acceptor, row.after.acceptor) == (old, f"{old}-new")
    shown = compact(response.content.decode())
    assert "Change address" in shown
    assert f"to {old} " in shown
    assert f"to {old}-new " in shown


@pytest.mark.nightly
def test_the_export_page_says_what_a_file_of_three_columns_would_hold(project, left, client_for, editor):
    outgoing.withdraw(project, project.edges.filter(pk=left.pk), editor)
    client = client_for(editor)
    assert "As JOIL, there is nothing to export" in text(client, EXPORT)

    make_edge(project, status=EdgeStatus.ACCEPTED, anchor="more words", reviewed=True)
    page = text(client, EXPORT)

    assert "Export 2 links" in page
    assert "As JOIL, the file holds the 1 link to add alone." in page


def test_what_a_release_holds_back_is_not_explained_by_what_the_queue_does(project, left, client_for, viewer):
    assert "Kept out of the queue" not in text(client_for(viewer), f"{EXPORT}1/links/")
