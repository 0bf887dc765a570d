"""How many released links are in which state is kept, and is what one would count."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.models import EdgeStatus
from review.live import seeing
from review.live.counts import counts, recount
from review.live.funnel import funnel
from review.live.verify import verify
from review.models import PublishedCount, PublishedLink
from review.releases import outgoing
from tests.factories import make_edge, make_link, make_project
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db


def counted(project) -> tuple[Counter, Counter]:
    links = list(PublishedLink.objects.filter(project=project).values_list("state", "closed_at"))
    return Counter(state for state, _ in links), Counter(state for state, closed in links if closed is None)


def kept(project) -> tuple[Counter, Counter]:
    whole, still_open = counts(project)
    return +Counter(whole), +Counter(still_open)


def test_what_is_kept_is_what_one_counts_after_each_step_of_a_link_s_life(project, editor):
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}", reviewed=True) for n in range(4)]
    other = make_project("other")
    make_edge(other, status=EdgeStatus.ACCEPTED)
    steps = [
        lambda: release_of(project),
        lambda: make_link(edges[0].source, edges[0].target, edges[0].anchor),
        lambda: verify(project),
        lambda: seeing.close(project, [edges[1].pk, edges[2].pk], editor, "fine"),
        lambda: make_link(edges[1].source, edges[1].target, edges[1].anchor),
        lambda: verify(project),
        lambda: release_of(other),
        lambda: PublishedLink.objects.filter(edge=edges[3]).delete(),
    ]
    for step in steps:
        step()
        assert kept(project) == counted(project)
        assert kept(other) == counted(other)


def test_a_look_for_released_links_mends_what_is_kept_and_adds_it_up(project):
    make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    release_of(project)
    PublishedCount.objects.create(project=project, state="lost", is_closed=False, number=7)
    verify(project)
    assert kept(project) == counted(project)
    assert PublishedCount.objects.filter(project=project).count() == 1
    recount(project)
    assert PublishedCount.objects.filter(project=project).count() == 1


def test_a_project_that_goes_takes_its_counts_along(project):
    other = make_project("other")
    PublishedCount.objects.create(project=other, state="lost", is_closed=False, number=7)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL anchorline.purge = 'on'")
        other.delete()
    assert not PublishedCount.objects.exists()


def test_the_funnel_counts_each_approved_link_once_and_reads_none_of_those_that_were_never_released(project, editor):
    back, again, _kept = (make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}") for n in range(3))
    release_of(project)
    outgoing.withdraw(project, project.edges.filter(pk=again.pk), editor)
    release_of(project)
    project.edges.filter(pk=again.pk).update(status=EdgeStatus.ACCEPTED)
    project.edges.filter(pk=back.pk).update(status=EdgeStatus.ACCEPTED, regressed=True)
    for _ in range(2):
        make_edge(project, status=EdgeStatus.ACCEPTED)

    with CaptureQueriesContext(connection) as queries:
        found = {step.name: step.links for step in funnel(project).steps}

    assert (found["Approved"], found["Released"]) == (5, 3)
    of_links = [query["sql"] for query in queries if 'FROM "linker_candidateedge"' in query["sql"]]
    assert [query for query in of_links if "LIMIT" not in query] == []
