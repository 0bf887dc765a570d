"""Links that have left are confirmed, withdrawn and rolled back; the next release carries it."""

from __future__ import annotations

import csv
import io
import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from linker.models import EdgeStatus, Page, Rel
from review import decisions, undoing
from review.models import Decision, Operation, Pending, Release, ReleaseFormat, ReleaseLink, Verb
from review.releases import create, outgoing
from review.releases.create import NothingToExport
from review.rulings import NothingToUndo, Shown
from tests.factories import make_edge
from tests.review.test_release import release_of, wait_until_somebody_waits_for_a_lock

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Project

PAGE = "/p/shop/export/"
LIST = f"{PAGE}links/"
DECIDE = f"{LIST}decide/"


def all_of(project: Project):
    return project.edges.all()


def rows(release: Release) -> list[tuple[str, str, str]]:
    """Operation, anchor and rel of each row of the file."""
    text = b"".join(create.release_pieces(release)).decode()
    return [(row["operation"], row["anchor_text"], row["rel"]) for row in csv.DictReader(io.StringIO(text))]


@pytest.fixture
def left(project) -> CandidateEdge:
    """A link that left as nofollow, with release 1."""
    edge = make_edge(project, status=EdgeStatus.ACCEPTED, rel="nofollow", anchor="warm socks")
    release_of(project)
    edge.refresh_from_db()
    return edge


def test_a_release_writes_down_what_it_sent(left):
    sent = ReleaseLink.objects.get()

    assert (sent.operation, sent.anchor, sent.rel) == (Operation.ADD, "warm socks", "nofollow")


def test_a_link_that_left_as_nofollow_is_confirmed_and_the_next_release_changes_it(project, left, editor):
    assert outgoing.confirm(project, all_of(project), editor, Rel.FOLLOW, "seen on the page") == 1

    release = release_of(project)

    left.refresh_from_db()
    decision = Decision.objects.get()
    assert rows(release) == [("change", "warm socks", "follow")]
    assert (left.status, left.rel, left.reviewed) == (EdgeStatus.EXPORTED, "follow", True)
    assert (decision.verb, decision.rel_before, decision.rel_after) == (Verb.CONFIRM, "nofollow", "follow")
    assert (decision.user, decision.note) == (editor, "seen on the page")
    assert (release.added, release.changed, release.removed) == (0, 1, 0)
    assert not Pending.objects.exists()


def test_a_link_is_withdrawn_and_the_next_release_removes_it(project, left, editor):
    assert outgoing.withdraw(project, all_of(project), editor) == 1
    left.refresh_from_db()
    before = left.status

    release = release_of(project)

    left.refresh_from_db()
    assert (before, left.status) == (EdgeStatus.EXPORTED, EdgeStatus.WITHDRAWN)
    assert rows(release) == [("remove", "warm socks", "nofollow")]
    assert Decision.objects.get().verb == Verb.WITHDRAW


def test_a_withdrawal_takes_the_place_of_a_change_that_has_not_left(project, left, editor):
    outgoing.confirm(project, all_of(project), editor, Rel.FOLLOW)
    outgoing.withdraw(project, all_of(project), editor)

    assert list(Decision.objects.order_by("pk").values_list("verb", flat=True)) == ["confirm", "undo", "withdraw"]
    assert rows(release_of(project)) == [("remove", "warm socks", "nofollow")]


def test_a_rel_that_the_site_has_already_sends_nothing(project, left, editor):
    outgoing.confirm(project, all_of(project), editor, Rel.FOLLOW)

    assert outgoing.confirm(project, all_of(project), editor, Rel.NOFOLLOW) == 1
    assert outgoing.confirm(project, all_of(project), editor, Rel.NOFOLLOW) == 0

    assert not Pending.objects.exists()
    with pytest.raises(NothingToExport):
        release_of(project)


@pytest.mark.parametrize("verb", ["confirm", "withdraw"])
def test_what_has_not_left_is_taken_back(project, left, editor, verb):
    args = [Rel.FOLLOW] if verb == "confirm" else []
    getattr(outgoing, verb)(project, all_of(project), editor, *args)

    assert outgoing.take_back(project, all_of(project), editor) == 1

    left.refresh_from_db()
    undo = Decision.objects.get(verb=Verb.UNDO)
    assert (left.status, left.rel, undo.undoes.verb) == (EdgeStatus.EXPORTED, "nofollow", verb)
    assert not Pending.objects.exists()
    assert outgoing.take_back(project, all_of(project), editor) == 0


def test_only_links_that_have_left_are_confirmed_or_withdrawn(project, editor):
    for status in (EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED, EdgeStatus.REJECTED, EdgeStatus.WITHDRAWN):
        make_edge(project, status=status)

    assert outgoing.confirm(project, all_of(project), editor, Rel.UGC) == 0
    assert outgoing.withdraw(project, all_of(project), editor) == 0
    assert not Decision.objects.exists()


def test_the_queues_undo_leaves_them_alone(project, left, editor):
    outgoing.withdraw(project, all_of(project), editor)

    with pytest.raises(NothingToUndo):
        undoing.undo(project, editor)
    with pytest.raises(NothingToUndo, match="list of exported links"):
        undoing.undo(project, editor, Decision.objects.get())


@pytest.mark.nightly
def test_a_withdrawn_link_can_be_accepted_again(project, left, editor):
    outgoing.withdraw(project, all_of(project), editor)
    release_of(project)

    decisions.decide_edges(project, [left.pk], Verb.ACCEPT, editor, shown=Shown(status=EdgeStatus.WITHDRAWN))

    assert [row[:2] for row in rows(release_of(project))] == [("add", "warm socks")]
    assert list(ReleaseLink.objects.order_by("pk").values_list("operation", flat=True)) == ["add", "remove", "add"]


def test_changes_and_removals_wait_for_a_full_file(project, left, editor):
    outgoing.withdraw(project, all_of(project), editor)
    make_edge(project, status=EdgeStatus.ACCEPTED)

    joil = release_of(project, fmt=ReleaseFormat.JOIL)
    full = release_of(project)

    assert (joil.added, joil.removed) == (1, 0)
    assert (full.added, full.removed) == (0, 1)


def test_a_removal_leaves_whatever_has_become_of_the_page_and_a_change_does_not(project, left, editor):
    Page.objects.filter(pk=left.target_id).update(status_code=404)
    outgoing.confirm(project, all_of(project), editor, Rel.FOLLOW)
    with pytest.raises(NothingToExport, match="held back"):
        release_of(project)

    outgoing.withdraw(project, all_of(project), editor)

    assert release_of(project).removed == 1


@pytest.mark.parametrize(("cap", "side"), [("inline_per_donor", "source"), ("per_target", "target")])
def test_a_link_that_is_withdrawn_makes_room_on_its_pages(project, editor, cap, side):
    first = make_edge(project, status=EdgeStatus.ACCEPTED, placement="inline")
    type(first.run).objects.update(params={cap: 1})
    release_of(project)
    make_edge(
        project, **{side: getattr(first, side)}, status=EdgeStatus.ACCEPTED, placement="inline", anchor="other words"
    )
    with pytest.raises(create.NothingToExport):
        release_of(project)
    outgoing.withdraw(project, all_of(project).filter(pk=first.pk), editor)

    release = release_of(project)

    assert (release.added, release.removed, release.held) == (1, 1, 0)


def test_the_database_refuses_an_unknown_operation(project, left, editor):
    outgoing.withdraw(project, all_of(project), editor)

    with pytest.raises(IntegrityError), transaction.atomic():
        Pending.objects.update(operation="drop")
    with pytest.raises(IntegrityError), transaction.atomic():
        ReleaseLink.objects.create(
            release=Release.objects.get(), edge=make_edge(project), operation="drop", anchor="a", rel="follow"
        )


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_two_editors_at_once_withdraw_a_link_once(project, left, editor):
    done: list[int] = []
    start = threading.Barrier(3)

    def one() -> None:
        try:
            start.wait()
            done.append(outgoing.withdraw(project, all_of(project), editor))
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(done) == [0, 0, 1]
    assert Decision.objects.count() == Pending.objects.count() == 1


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_withdrawal_waits_for_a_release_and_leaves_with_the_next(project, left, editor):
    make_edge(project, status=EdgeStatus.ACCEPTED)
    done: list[int] = []

    def withdraw() -> None:
        try:
            done.append(outgoing.withdraw(project, project.edges.filter(pk=left.pk), editor))
        finally:
            connection.close()

    with transaction.atomic():
        release = release_of(project)
        thread = threading.Thread(target=withdraw)
        thread.start()
        wait_until_somebody_waits_for_a_lock()
    thread.join()

    assert (release.added, release.removed, done) == (1, 0, [1])
    assert release_of(project).removed == 1


# ------------------------------------------------------------------------------------------------------- the pages


@pytest.mark.parametrize("url", [LIST, f"{PAGE}1/links/", f"{PAGE}1/withdraw/"])
def test_outsiders_and_strangers_do_not_get_in(left, client, client_for, outsider, url):
    assert client_for(outsider).get(url).status_code == 404
    assert client.get(url).status_code == 302


@pytest.mark.nightly
def test_outsiders_and_viewers_decide_nothing(project, left, client_for, outsider, viewer):
    sent = {"do": "withdraw", "link": left.pk}

    assert client_for(outsider).post(DECIDE, sent).status_code == 404
    assert client_for(viewer).post(DECIDE, sent).status_code == 403
    assert client_for(viewer).get(LIST).status_code == 200
    assert not Pending.objects.exists()


@pytest.mark.nightly
def test_editors_confirm_withdraw_and_take_back(project, left, client_for, editor):
    client = client_for(editor)

    for do, waits in (("confirm:follow", "change"), ("withdraw", "remove"), ("take_back", None)):
        response = client.post(DECIDE, {"do": do, "link": left.pk, "query": "rel="}, follow=True)
        assert response.redirect_chain == [(f"{LIST}?rel=", 302)]
        assert Pending.objects.values_list("operation", flat=True).first() == waits


def test_a_link_of_another_project_is_left_alone(project, left, client_for, outsider):
    client_for(outsider).post("/p/elsewhere/export/links/decide/", {"do": "withdraw", "link": left.pk})

    assert not Pending.objects.exists()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "sent", [{}, {"do": "withdraw"}, {"do": "drop", "link": 1}, {"do": "withdraw", "link": "x"}, {"do": "confirm:x"}]
)
def test_a_form_that_makes_no_sense_changes_nothing(project, left, client_for, editor, sent):
    response = client_for(editor).post(DECIDE, sent, follow=True)

    assert "Nothing was changed" in response.content.decode()
    assert not Decision.objects.exists()


@pytest.mark.nightly
def test_the_list_is_filtered_and_paged_by_keyset(project, client_for, viewer, editor):
    for number in range(outgoing.PAGE_SIZE + 2):
        make_edge(project, status=EdgeStatus.ACCEPTED, rel="nofollow" if number else "follow")
    release_of(project)
    client = client_for(viewer)

    first = client.get(LIST, {"rel": "nofollow", "release": 1})
    second = client.get(f"{LIST}?{first.context['more']}")
    none = client.get(LIST, {"release": 2})

    assert [len(first.context["links"]), len(second.context["links"])] == [outgoing.PAGE_SIZE, 1]
    assert second.context["more"] == ""
    assert "No links match these filters" in none.content.decode()


@pytest.mark.nightly
def test_a_manager_withdraws_all_links_of_a_release_after_seeing_their_number(project, client_for, manager, editor):
    for _ in range(3):
        make_edge(project, status=EdgeStatus.ACCEPTED)
    release_of(project)
    make_edge(project, status=EdgeStatus.ACCEPTED)
    release_of(project)
    client = client_for(manager)

    asked = client.get(f"{PAGE}1/withdraw/").content.decode()
    stale = client.post(f"{PAGE}1/withdraw/", {"links": 2})
    refused = client_for(editor).post(f"{PAGE}1/withdraw/", {"links": 3})
    assert (stale.status_code, refused.status_code, Pending.objects.count()) == (409, 403, 0)

    client.post(f"{PAGE}1/withdraw/", {"links": 3, "note": "a mistake"})

    assert "<strong>3 links</strong>" in asked
    assert Decision.objects.values("batch").distinct().count() == 1
    assert [row[0] for row in rows(release_of(project))] == ["remove"] * 3
