"""A removal that was asked for because a page was gone stays behind once the page is back, unless it is asked again."""

from __future__ import annotations

import csv
import io
from importlib import import_module

import pytest
from django.db import connection
from django.utils import timezone

from linker.models import EdgeStatus, Page, PageStatus
from review.live import left_alone
from review.models import Decision, Held, LiveState, Pending, PublishedLink, ReleaseFormat, Verb
from review.releases import create, drafts, outgoing
from review.releases.create import NothingToExport
from tests.factories import make_edge, make_member
from tests.review.test_release import release_of

DRAFTS = "/p/shop/export/drafts/"
migration = import_module("review.migrations.0026_removals_of_gone_pages")


def draft_of(project):
    draft = drafts.make_draft(project, None, {}, ReleaseFormat.FULL)
    drafts.fill(draft)
    draft.refresh_from_db()
    return draft


def operations(release) -> list[str]:
    text = b"".join(create.release_pieces(release)).decode()
    return [row["operation"] for row in csv.DictReader(io.StringIO(text))]


@pytest.fixture
def left(project):
    """A link that left with release 1."""
    edge = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="warm socks")
    release_of(project)
    edge.refresh_from_db()
    return edge


def lose(page: Page) -> None:
    Page.objects.filter(pk=page.pk).update(missing_since=timezone.now())


def bring_back(page: Page) -> None:
    Page.objects.filter(pk=page.pk).update(missing_since=None, status=PageStatus.LIVE, status_code=200)


@pytest.fixture
def waiting(project, left, editor):
    """Its acceptor is gone, and it is to be removed."""
    lose(left.target)
    assert outgoing.withdraw(project, project.edges.all(), editor) == 1
    return left


def test_a_removal_leaves_while_the_page_is_gone(project, waiting):
    assert operations(release_of(project)) == ["remove"]


def test_a_removal_does_not_leave_once_the_page_is_back(project, waiting):
    bring_back(waiting.target)

    draft = draft_of(project)

    assert (draft.removed, draft.held_for) == (0, {Held.PAGE_BACK: 1})
    with pytest.raises(NothingToExport):
        release_of(project)


@pytest.mark.parametrize("gone", [{"status": "removed"}, {"status_code": 404}])
def test_a_page_is_gone_however_a_file_says_so(project, left, editor, gone):
    Page.objects.filter(pk=left.source_id).update(**gone)
    outgoing.withdraw(project, project.edges.all(), editor)
    bring_back(left.source)

    assert draft_of(project).held_for == {Held.PAGE_BACK: 1}


def test_a_removal_for_another_reason_leaves_whatever_becomes_of_the_pages(project, left, editor):
    outgoing.withdraw(project, project.edges.all(), editor)
    lose(left.target)
    bring_back(left.target)

    assert operations(release_of(project)) == ["remove"]


@pytest.mark.nightly
def test_a_draft_that_was_made_before_the_page_came_back_leaves_the_removal_behind_and_says_so(
    project, waiting, as_editor
):
    draft = draft_of(project)
    assert draft.removed == 1
    bring_back(waiting.target)

    page = as_editor.get(f"{DRAFTS}{draft.pk}/").content.decode()

    assert drafts.left_behind(draft) == {waiting.pk: Held.PAGE_BACK}
    assert "was asked for while a page of the link was gone. The page is back" in " ".join(page.split())


@pytest.mark.nightly
def test_one_click_keeps_the_link_and_the_decision_can_be_read(project, waiting, as_editor):
    bring_back(waiting.target)
    draft = draft_of(project)

    as_editor.post(f"{DRAFTS}{draft.pk}/pages-back/", {"do": "keep"})

    waiting.refresh_from_db()
    assert not Pending.objects.exists()
    assert (waiting.status, waiting.published.is_out) == (EdgeStatus.EXPORTED, True)
    assert list(Decision.objects.order_by("pk").values_list("verb", flat=True)) == [Verb.WITHDRAW, Verb.UNDO]
    assert "pages-back" not in as_editor.get(f"{DRAFTS}{draft.pk}/").content.decode()


@pytest.mark.nightly
def test_one_click_removes_it_all_the_same(project, waiting, as_editor):
    bring_back(waiting.target)
    draft = draft_of(project)

    as_editor.post(f"{DRAFTS}{draft.pk}/pages-back/", {"do": "remove"})

    verbs = list(Decision.objects.order_by("pk").values_list("verb", flat=True))
    assert verbs == [Verb.WITHDRAW, Verb.UNDO, Verb.WITHDRAW]
    assert draft_of(project).removed == 1
    assert operations(release_of(project)) == ["remove"]


@pytest.mark.nightly
def test_a_viewer_reads_it_and_decides_nothing(project, waiting, client_for):
    bring_back(waiting.target)
    draft = draft_of(project)
    viewer = client_for(make_member(project, username="vera", role="viewer"))

    page = viewer.get(f"{DRAFTS}{draft.pk}/").content.decode()
    answer = viewer.post(f"{DRAFTS}{draft.pk}/pages-back/", {"do": "keep"})

    assert answer.status_code == 403
    assert "The page is back" in " ".join(page.split())
    assert "pages-back" not in page
    assert Pending.objects.count() == 1


def test_the_list_of_live_links_lets_it_be_withdrawn_once_more(project, waiting, editor):
    assert left_alone.why_left(project, [waiting.pk], "withdraw") == {left_alone.Why.TO_GO: 1}
    bring_back(waiting.target)

    assert not left_alone.why_left(project, [waiting.pk], "withdraw")
    assert outgoing.withdraw(project, project.edges.all(), editor) == 1
    assert outgoing.withdraw(project, project.edges.all(), editor) == 0


def test_the_list_of_released_links_says_that_the_page_is_back(project, waiting, as_editor):
    bring_back(waiting.target)

    assert "the page is back" in as_editor.get("/p/shop/export/links/").content.decode()


def test_removals_that_waited_before_the_upgrade_are_read_from_the_life_of_their_links(project, waiting):
    Pending.objects.update(page_gone=False)
    decision = Decision.objects.get()
    PublishedLink.objects.update(state=LiveState.TARGET_GONE)
    waiting.link_events.create(project=project, at=decision.at, before="live", after=LiveState.TARGET_GONE)

    with connection.cursor() as cursor:
        cursor.execute(migration._WAITING)

    assert Pending.objects.get().page_gone
