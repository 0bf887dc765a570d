"""A match proposes better links in place of released ones: for a clear gain, slowly, where there is no room."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from linker.engine.params import Ranking
from linker.matching.kept_runs import standing_run
from linker.matching.replacing import most_of, quotas_of, week_of
from linker.models import Block, CandidateEdge, EdgeStatus, Gate, Page, Project, Replacement, ReplacementEnd
from linker.models.querysets import OPEN
from review import decisions
from review.live.verify import verify
from review.models import PublishedLink, Verb
from review.releases import create
from tests.factories import make_link, make_project
from tests.guides import make_guides, match, project, site
from tests.kept import kept
from tests.linker.matching.test_changes import change, match_changes
from tests.review.test_drafts import back_to, draft_of, out
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db
__all__ = ["project", "site"]
CAPS = {"inline_per_donor": 1, "related_per_donor": 1}


@pytest.fixture(scope="module")
def guides_once(django_db_setup, django_db_blocker):
    with kept(django_db_blocker):
        yield make_guides(make_project(), 60)


@pytest.fixture(scope="module")
def full_once(guides_once, django_db_blocker):
    """Pages whose room is taken by links that were released: the two least likely of what a run proposed for each."""
    with kept(django_db_blocker):
        project = Project.objects.get(pk=guides_once.project)
        project.replace_after, project.replace_of_page, project.replace_of_site = 0, 100, 100
        project.save()
        project.tiers.update(held=False)
        match(project, inline_per_donor=3, related_per_donor=7)
        for donor in sorted(set(project.edges.values_list("source_id", flat=True)))[:20]:
            mine = project.edges.filter(OPEN, source=donor).order_by("probability", "pk")
            worst = [*mine.filter(placement="inline")[:1], *mine.filter(placement="related")[:1]]
            if len(worst) == 2:
                edges = [edge.pk for edge in worst]
                CandidateEdge.objects.filter(pk__in=edges).update(status="accepted", reviewed=True)
        release_of(project)
        yield


@pytest.fixture
def full(full_once, site, project):
    return project


def proposed(project) -> list[Replacement]:
    return list(Replacement.objects.filter(project=project, ended_at=None).select_related("edge", "replaced"))


@pytest.mark.nightly
def test_a_full_page_gets_better_links_in_place_of_released_ones(full):
    run = match(full, **CAPS)

    found = proposed(full)
    assert found
    for one in found:
        assert one.new >= 1.2 * one.old - 1e-9
        assert one.new == one.edge.probability
        assert (one.edge.source_id, one.edge.placement) == (one.replaced.source_id, one.replaced.placement)
        assert (one.edge.status, one.edge.stale, one.replaced.status) == ("suggested", False, "exported")
        assert (one.run, one.edge.run, one.gain) == (run, run, 0.2)
    assert len({one.edge_id for one in found}) == len({one.replaced_id for one in found}) == len(found)
    taken = set(PublishedLink.objects.values_list("edge__source", flat=True))
    extra = full.edges.filter(OPEN, source__in=taken).exclude(pk__in=[one.edge_id for one in found])
    assert not extra.exists()  # nothing else: these pages have no room


@pytest.mark.nightly
def test_a_higher_gain_leaves_fewer_and_none_is_proposed_where_it_is_off(full):
    match(full, **CAPS)
    usual = len(proposed(full))
    full.replace_gain = 500
    full.save()
    match(full, **CAPS)
    assert len(proposed(full)) < usual
    full.replacing = False
    full.save()

    match(full, **CAPS)

    assert not proposed(full)
    assert set(Replacement.objects.values_list("end", flat=True)) == {ReplacementEnd.LAPSED}


@pytest.mark.nightly
def test_the_quotas_of_a_page_and_of_the_site_hold(full):
    full.replace_of_page = 1
    full.save()
    match(full, **CAPS)
    by_donor = Counter(one.edge.source_id for one in proposed(full))
    assert set(by_donor.values()) == {1}
    full.replace_of_site = 5
    full.save()

    match(full, **CAPS)

    assert len(proposed(full)) == most_of(5, PublishedLink.objects.count()) < len(by_donor)


@pytest.mark.nightly
def test_what_was_replaced_this_week_counts(full, editor):
    full.replace_of_page = full.replace_of_site = 1
    full.save()
    match(full, **CAPS)
    [one] = proposed(full)
    decisions.decide_edges(full, [one.edge_id], Verb.ACCEPT, editor)
    match(full, **CAPS)
    assert [other.pk for other in proposed(full)] == [one.pk]
    release_of(full)
    match(full, **CAPS)
    assert not proposed(full)
    Replacement.objects.update(ended_at=week_of(full) - timedelta(seconds=1))

    match(full, **CAPS)

    assert len(proposed(full)) == 1


@pytest.mark.nightly
def test_young_links_links_with_a_gate_and_links_somebody_sees_to_stay(full, editor):
    full.replace_after = 1
    full.save()
    match(full, **CAPS)
    assert not proposed(full)
    full.replace_after = 0
    full.save()
    PublishedLink.objects.update(owner=editor)
    match(full, **CAPS)
    assert not proposed(full)
    PublishedLink.objects.update(owner=None)
    Page.objects.filter(project=full).update(clicks=5)
    Gate.objects.create(project=full, min_clicks=5)

    match(full, **CAPS)

    assert not proposed(full)


@pytest.mark.nightly
def test_links_that_the_site_shows_are_scored_as_if_they_were_not_linked(full):
    for link in PublishedLink.objects.select_related("edge__source", "edge__target"):
        block = Block.ASIDE if link.edge.placement == "related" else Block.CONTENT
        there = make_link(link.edge.source, link.edge.target, link.anchor, block)
        there.follow = link.rel == "follow"
        there.save()
    verify(full)
    assert set(PublishedLink.objects.values_list("state", flat=True)) == {"live"}

    match(full, inline_per_donor=0, related_per_donor=5, related_in_all=1)

    found = proposed(full)
    assert found
    assert {one.placement for one in found} == {"related"}
    assert {one.replaced.published.state for one in found} == {"live"}


@pytest.mark.nightly
def test_the_sites_own_links_are_never_replaced(project):
    make_guides(project, 40)
    Page.objects.filter(project=project).update(outlinks=5)
    project.replace_after = 0
    project.save()

    match(project, inline_in_all=5, related_per_donor=0)

    assert not Replacement.objects.exists()


@pytest.mark.nightly
def test_a_run_by_cosine_which_states_no_probability_proposes_none(full):
    match(full, ranking=Ranking.COSINE, **CAPS)

    assert not proposed(full)


@pytest.mark.nightly
def test_a_run_over_what_changed_proposes_for_the_pages_it_looks_at(full):
    match(full, **CAPS)
    before = {one.edge_id: one.replaced_id for one in proposed(full)}
    donor = min(one.edge.source_id for one in proposed(full))
    change(Page.objects.get(pk=donor))

    match_changes(full)

    after = {one.edge_id: one.replaced_id for one in proposed(full)}
    others = set(CandidateEdge.objects.filter(pk__in=before).exclude(source=donor).values_list("pk", flat=True))
    assert len(others & after.keys()) >= 0.5 * len(others)
    assert all(one.run == standing_run(full) for one in proposed(full))


@pytest.mark.nightly
def test_a_rejected_pair_is_not_proposed_again_and_an_accepted_one_is_published_and_rolled_back(full, editor):
    match(full, **CAPS)
    no, yes, *_ = proposed(full)
    first = full.releases.get()
    before = out(full)
    decisions.decide_edges(full, [no.edge_id], Verb.REJECT, editor)
    outcome = decisions.decide_edges(full, [yes.edge_id], Verb.ACCEPT, editor)
    codes = {warning.code for doubt in outcome.doubts for warning in doubt.warnings}
    assert "donor_full" not in codes
    if outcome.doubts:
        CandidateEdge.objects.filter(pk=yes.edge_id).update(status=EdgeStatus.ACCEPTED, reviewed=True)

    create.publish(draft_of(full, editor), editor)

    assert set(out(full)) == set(before) - {yes.replaced_id} | {yes.edge_id}
    verify(full)
    match(full, **CAPS)
    assert (no.edge_id, no.replaced_id) not in {(one.edge_id, one.replaced_id) for one in proposed(full)}
    no.refresh_from_db()
    assert no.end == ReplacementEnd.REJECTED

    create.publish(back_to(first, editor), editor)

    assert set(out(full)) == set(before)


def test_a_week_is_seven_days_on_the_projects_clock(project):
    project.time_zone = "Pacific/Auckland"

    begin = week_of(project)

    assert begin.utcoffset() in (timedelta(hours=12), timedelta(hours=13))
    assert timedelta(days=6) <= timezone.now() - begin < timedelta(days=7, hours=2)
    assert (most_of(5, 0), most_of(5, 39), most_of(5, 40), most_of(100, 3)) == (1, 1, 2, 3)


@pytest.mark.nightly
def test_quotas_ask_a_number_of_statements_that_does_not_grow(full, django_assert_num_queries):
    donors = np.array(sorted(set(full.edges.values_list("source_id", flat=True))), dtype=np.int64)
    with django_assert_num_queries(3):
        quotas_of(full, donors, donors)
