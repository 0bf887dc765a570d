"""Releases when things go wrong: at once, in the middle, killed, and with another site's files."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import pytest
from django.db import connection

from ingest import services
from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus
from review.decisions import Shown, decide_edges
from review.live.verify import verify
from review.models import LiveState, PublishedLink, Release, ReleaseChunk, ReleaseLink, Verb
from review.releases import create, drafts
from review.releases.drafts import NoOpenDraft
from tests.factories import make_edge, make_page, make_project
from tests.review.races import race
from tests.review.test_drafts import draft_of, out
from tests.review.test_release import donors, release_of

LINKS = "Type,Source,Destination,Anchor,Link Position\n"


@pytest.fixture
def edges(project):
    return [
        make_edge(
            project, anchor=f"words {n}", placement="inline", rel="follow", status=EdgeStatus.ACCEPTED, reviewed=True
        )
        for n in range(4)
    ]


def assert_whole(project) -> None:
    """What is marked, written down, in the files and out is the same."""
    sent = set(ReleaseLink.objects.filter(release__project=project).values_list("edge__source__url", flat=True))
    marked = project.edges.filter(status=EdgeStatus.EXPORTED).values_list("source__url", flat=True)
    in_files = [url for release in project.releases.all() for url in donors(release)]
    assert sorted(in_files) == sorted(marked) == sorted(sent)
    assert set(out(project)) == set(project.edges.filter(status=EdgeStatus.EXPORTED).values_list("pk", flat=True))


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_draft_that_two_publish_at_once_is_one_release(project, edges, editor):
    draft = draft_of(project, editor)

    def publish() -> str:
        try:
            return str(create.publish(drafts.ReleaseDraft.objects.get(pk=draft.pk), editor))
        except NoOpenDraft:
            return "too late"

    assert sorted(race(publish, publish)) == ["Release 1", "too late"]
    assert_whole(project)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_release_while_an_editor_decides_has_each_link_as_it_was_decided(project, edges, editor):
    taken = edges[0]

    def reject() -> int:
        with suppress(UserError):
            return len(decide_edges(project, [taken.pk], Verb.REJECT, editor, shown=Shown(EdgeStatus.ACCEPTED)).decided)
        return 0

    _release, rejected = race(lambda: release_of(project), reject)

    taken.refresh_from_db()
    assert taken.status == (EdgeStatus.REJECTED if rejected else EdgeStatus.EXPORTED)
    assert_whole(project)


@pytest.mark.django_db(transaction=True)
def test_an_import_of_links_in_the_middle_of_a_release_leaves_both_whole(project, edges, tmp_path):
    file = tmp_path / "all_inlinks.csv"
    rows = [f"Hyperlink,{edge.source.url},{edge.target.url},{edge.anchor},Content\n" for edge in edges]
    file.write_text(LINKS + "".join(rows))

    def release() -> str:
        try:
            return str(release_of(project))
        except create.NothingToExport:  # the import was first, and the links are there already
            return "nothing"

    said, _run = race(release, lambda: services.import_file(project, "links", file))
    verify(project)

    states = set(PublishedLink.objects.values_list("state", flat=True))
    assert states == ({LiveState.LIVE} if said == "Release 1" else set())
    assert_whole(project)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_publisher_that_is_killed_at_any_step_leaves_nothing_and_the_draft_can_be_published(project, edges, editor):
    draft = draft_of(project, editor)
    for step in range(create.STEPS):
        assert _publish_and_die(draft.pk, step) == signal.SIGKILL
        draft.refresh_from_db()
        assert draft.is_open
        assert not any(rows.objects.exists() for rows in (Release, ReleaseChunk, ReleaseLink, PublishedLink))
        assert project.edges.filter(status=EdgeStatus.ACCEPTED).count() == len(edges)

    release = create.publish(draft, editor)

    assert release.links == len(edges)
    assert_whole(project)


def _publish_and_die(draft: int, step: int) -> int:
    """Publishes in a process of its own that is killed as it comes to the step; the signal that ended it."""
    connection.close()
    child = os.fork()
    if child == 0:
        # Where a test with a browser ran before in this process, its loop is not the child's, and so "connection" is
        # another one here: that of the parent, which would be left in the middle of a transaction.
        connection.connection = None

        def progress(done: int, _total: int, _stage: str = "") -> None:
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)

        with suppress(BaseException):
            create.publish(drafts.ReleaseDraft.objects.get(pk=draft), None, progress)
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def test_links_of_another_site_do_not_say_that_what_was_released_is_gone(project, edges, tmp_path):
    file = tmp_path / "all_inlinks.csv"
    rows = [f"Hyperlink,{edge.source.url},{edge.target.url},{edge.anchor},Content\n" for edge in edges]
    file.write_text(LINKS + "".join(rows))
    release_of(project)
    services.import_file(project, "links", file)
    verify(project)
    file.write_text(LINKS + "Hyperlink,https://other.example/a,https://other.example/b,b,Content\n")

    with pytest.raises(UserError):
        services.import_file(project, "links", file)
    verify(project)

    assert set(PublishedLink.objects.values_list("state", flat=True)) == {LiveState.LIVE}
    assert not CandidateEdge.objects.filter(project=project, regressed=True).exists()


def test_pages_of_another_site_are_refused_and_drop_no_page(project, edges, tmp_path):
    file = tmp_path / "internal_html.csv"
    file.write_text("Address,Status Code,Title 1\nhttps://other.example/a,200,A\n")

    with pytest.raises(UserError):
        services.import_file(project, "pages", file)

    assert not project.pages.filter(missing_since__isnull=False).exists()


def test_decisions_that_were_made_for_another_project_change_nothing(project, editor):
    other = make_project("other")
    theirs = make_edge(other, make_page(other))

    with pytest.raises(UserError, match="not in this project"):
        decide_edges(project, [theirs.pk], Verb.ACCEPT, editor)

    theirs.refresh_from_db()
    assert theirs.status == EdgeStatus.SUGGESTED
