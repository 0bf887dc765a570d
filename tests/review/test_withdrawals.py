"""A whole release is withdrawn in statements, as its links would be one by one; many links in the background."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from linker.models import EdgeStatus, Rel, Run, RunKind
from review.models import Decision, Pending
from review.releases import create, outgoing, since, withdrawals
from tests.factories import lenient_tiers, make_edge
from tests.markup import compact
from tests.review.test_release import release_of

PAGE = "/p/shop/export/1/"
MADE = {"id", "at", "batch", "undoes"}


@pytest.fixture
def release(project):
    """Of five links that have not been touched since."""
    lenient_tiers(project, name="Related")
    for n in range(4):
        make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True, anchor=f"words {n}", edited=n == 3)
    make_edge(project, score=0.7)  # leaves unreviewed
    return release_of(project)


def written(project) -> list[object]:
    """What was decided, without what no two withdrawals have in common; and what became of the links."""
    names = [field.attname for field in Decision._meta.concrete_fields if field.name not in MADE]
    return [
        list(Decision.objects.order_by("edge", "pk").values_list(*names)),
        list(Pending.objects.order_by("edge").values_list("edge", "project", "operation", "decision__edge")),
        list(project.edges.order_by("pk").values_list("pk", "status", "rel", "reviewed", "stale")),
    ]


@pytest.mark.nightly
def test_it_writes_what_withdrawing_each_link_writes(project, release, editor, manager):
    changed, removed, back = project.edges.order_by("pk")[:3]
    outgoing.confirm(project, project.edges.filter(pk=changed.pk), editor, Rel.UGC)
    outgoing.withdraw(project, project.edges.filter(pk=removed.pk), editor, "before")
    project.edges.filter(pk=back.pk).update(status=EdgeStatus.SUGGESTED, regressed=True)
    found = []
    for withdraw in (
        lambda: outgoing.withdraw(project, project.edges.all(), manager, "a mistake"),
        lambda: withdrawals.withdraw_release(release, manager, "a mistake"),
    ):
        with transaction.atomic():
            assert withdraw() == 3
            assert Decision.objects.filter(note="a mistake").values("batch").distinct().count() == 1
            found.append(written(project))
            transaction.set_rollback(True)

    assert found[0] == found[1]


def test_a_second_time_changes_nothing(project, release, manager):
    assert [withdrawals.withdraw_release(release, manager, "") for _ in range(2)] == [5, 0]
    assert Decision.objects.count() == 5


def test_it_asks_as_often_for_many_links_as_for_few(project, manager):
    def asked(links: int) -> int:
        for n in range(links):
            make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {links} {n}")
        release = release_of(project)
        with CaptureQueriesContext(connection) as queries:
            assert withdrawals.withdraw_release(release, manager, "") == links
        return len(queries)

    assert asked(2) == asked(9)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_many_links_are_withdrawn_in_the_background(project, release, client_for, manager, run_jobs, monkeypatch):
    monkeypatch.setattr(create, "MAX_IN_REQUEST", 2)
    client = client_for(manager)
    page = compact(client.get(f"{PAGE}withdraw/").content.decode())

    answer = client.post(f"{PAGE}withdraw/", {"links": "all", "note": "a mistake"})
    waiting = Pending.objects.count()
    run_jobs()

    run = Run.objects.get(kind=RunKind.WITHDRAW)
    assert "<strong>All links that this release added</strong>" in page
    assert 'name="links" value="all"' in page
    assert (answer.url, waiting) == (f"/p/shop/runs/{run.pk}/", 0)
    assert (run.status, run.report["release"], run.report["links"]) == ("succeeded", 1, 5)
    assert set(Decision.objects.values_list("user", "note")) == {(manager.pk, "a mistake")}
    assert "5 links of release 1 will be removed" in compact(client.get(answer.url).content.decode())


def test_a_large_release_is_looked_at_in_part_and_its_page_says_so(project, release, client_for, manager, monkeypatch):
    monkeypatch.setattr(since, "MOST", 3)
    newest = release.release_links.order_by("-pk").values_list("edge", flat=True)
    outgoing.withdraw(project, project.edges.filter(pk__in=[newest[0], newest[4]]), manager, "")

    found = since.since(release)
    page = compact(client_for(manager).get(f"{PAGE}links/").content.decode())

    assert (found.looked, found.is_all, found.unchanged, found.leaving, found.to_withdraw) == (3, False, 3, 1, 2)
    assert "looked up for 3 of its links" in page
    assert "Withdraw the links it added" in page


@pytest.mark.nightly
def test_what_is_left_of_a_large_release_is_not_counted_before_it_is_withdrawn(
    project, release, client_for, manager, monkeypatch
):
    """However few they are: they would be looked for among all of its links."""
    monkeypatch.setattr(create, "MAX_IN_REQUEST", 2)
    withdrawals.withdraw_release(release, manager, "")
    client = client_for(manager)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"{PAGE}withdraw/").content.decode()

    assert 'value="all"' in page
    assert not [query for query in queries if "review_releaselink" in query["sql"]]


@pytest.mark.nightly
def test_nothing_is_withdrawn_where_the_number_of_links_is_not_what_was_shown(project, release, client_for, manager):
    client = client_for(manager)
    answers = [client.post(f"{PAGE}withdraw/", {"links": links}).status_code for links in (4, "all", "")]

    assert (answers, Pending.objects.count()) == ([409, 409, 409], 0)
