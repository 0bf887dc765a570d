"""What names pages goes on meaning them where they move to another address or are merged: roll-out patterns, filters
under a name, exports and pilots."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from django.core.management import call_command
from django.http import QueryDict

from linker.engine.params import MatchParams, Sample
from linker.matching.eligibility import eligible_pages
from linker.matching.pilots import limited_to_pilot
from linker.models import EdgeStatus, Pilot
from review.models import Held, HeldBack, RolloutRule, Stage
from review.queue.filters import QueueFilter
from review.queue.saved import save_filter
from review.releases.rollout_rules import Effect, effect_of
from tests.factories import embed, make_edge, make_model, make_page, make_run
from tests.review.test_release import donors, release_of

pytestmark = pytest.mark.django_db(transaction=True)
SITE = "https://shop.example"


def event(*words: str) -> None:
    call_command("page_event", "shop", *words)


@pytest.mark.nightly
def test_a_pattern_of_the_roll_out_holds_a_page_that_moved_out_of_it(project):
    held = make_edge(project, make_page(project, "/shop/tents"), status=EdgeStatus.ACCEPTED, reviewed=True)
    leaves = make_edge(project, make_page(project, "/blog/1"), status=EdgeStatus.ACCEPTED, reviewed=True)
    rule = RolloutRule(project=project, pattern="/shop/", stage=Stage.OFF)
    event("moved", held.source.url, f"{SITE}/store/tents")
    assert effect_of(rule) == Effect(2, 0, 1, is_all=True)
    rule.save()
    release = release_of(project)
    assert donors(release) == [leaves.source.url]
    assert list(HeldBack.objects.filter(release=release).values_list("reason", flat=True)) == [Held.ROLLOUT]


@pytest.mark.nightly
def test_a_pattern_of_the_address_that_a_page_has_goes_before_those_that_it_had(project):
    edge = make_edge(project, make_page(project, "/shop/tents"), status=EdgeStatus.ACCEPTED, reviewed=True)
    RolloutRule.objects.create(project=project, pattern="/shop/", stage=Stage.OFF)
    RolloutRule.objects.create(project=project, pattern="/store/", stage=Stage.ON)
    event("moved", edge.source.url, f"{SITE}/store/tents")
    assert donors(release_of(project)) == [f"{SITE}/store/tents"]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["moved", "merged", "redirected"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_filter_under_a_name_lists_the_suggestions_of_a_page_that_leads_elsewhere(
    project, editor, client_for, kind, side
):
    edge = make_edge(project)
    make_edge(project)
    page = getattr(edge, side)
    chosen = QueueFilter(donor=page.pk) if side == "source" else QueueFilter(acceptor=page.pk)
    save_filter(project, editor, "Mine", chosen, shared=False)
    new = f"{SITE}/elsewhere" if kind == "moved" else make_page(project, "/elsewhere").url
    event(kind, page.url, new)
    kept = project.saved_filters.get()
    assert [found.pk for found in _read(kept.query).queryset(project)] == [edge.pk]
    exported = client_for(editor).get(f"/p/shop/export/links.csv?{kept.query}&status=all")
    rows = b"".join(exported.streaming_content).decode() if exported.streaming else exported.content.decode()
    [row] = csv.DictReader(io.StringIO(rows.removeprefix("\ufeff")))
    assert row["anchor_text"] == edge.anchor
    assert new in rows


def _read(query: str) -> QueueFilter:
    return QueueFilter.from_query(QueryDict(query))


@pytest.mark.parametrize("kind", ["moved", "merged"])
def test_a_pilot_keeps_the_donor_that_it_drew(project, kind):
    donor, other, third = (make_page(project, path) for path in ("/a", "/b", "/c"))
    for page in (donor, other, third):
        embed(page, (1, 0, 0, 0))
    run, params = make_run(project, status="running"), MatchParams(pilot=Sample(pages=1))
    Pilot.objects.create(run=run, pages=np.array([donor.pk], "<i8").tobytes(), size=1, out_of=3)
    event(kind, donor.url, f"{SITE}/elsewhere" if kind == "moved" else other.url)
    eligible = limited_to_pilot(run, params, eligible_pages(project, make_model(), params))
    wanted = donor if kind == "moved" else other
    assert eligible.ids[eligible.chosen_donor].tolist() == [wanted.pk]
