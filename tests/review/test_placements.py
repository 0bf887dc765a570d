"""Where links stand: each is in one of four places, which lists, figures, cards and files call the same."""

from __future__ import annotations

import csv
import io
import itertools

import pytest
from django.urls import reverse

from linker.models import CandidateEdge, EdgeStatus, Placement
from linker.models.edge_counts import kept_counts, total
from linker.models.placements import Stands, standing, stands
from linker.models.project import GapLinks
from review.link_places import by_itself, where_of
from review.models import Where
from review.queue.facets import facets
from review.queue.filters import PLACEMENTS, QueueFilter
from review.releases.create import create_release, release_pieces
from tests.factories import lenient_tiers, make_edge, make_page

pytestmark = pytest.mark.django_db

WHERE = {Stands.TEXT: Where.TEXT, Stands.LINE: Where.LINE, Stands.LIST: Where.BESIDE, Stands.SENTENCE: Where.GAP}
BODY = "A stove needs shelter from the wind. " * 30


def edges_of_all_kinds(project) -> None:
    """Open and accepted links, in the text and not, with a paragraph that a line could follow and without."""
    for status, has_paragraph, kind in itertools.product(("suggested", "accepted"), (True, False), range(4)):
        page = make_page(project, body=BODY)
        page.refresh_from_db()
        fields: dict = {"placement": Placement.INLINE if kind == 0 else Placement.RELATED, "content_gap": kind == 2}
        if has_paragraph:
            fields |= {"paragraph_start": 0, "paragraph_end": 30, "paragraph_hash": page.body_hash}
        if status == "accepted":
            fields |= {"reviewed": True, "own_line": kind == 3}
        make_edge(project, page, status=status, score=0.95, **fields)


@pytest.fixture(params=GapLinks.values)
def mixed(project, request):
    project.gap_links = request.param
    project.save()
    edges_of_all_kinds(project)
    return project


def test_the_places_are_called_as_the_choice_on_a_card():
    assert {place.label for place in Stands} == {where.label for where in Where}
    assert [str(WHERE[place].label) for place in Stands] == [str(place.label) for place in Stands]


def test_each_link_stands_where_its_card_says(mixed):
    for edge in CandidateEdge.objects.select_related("source", "project", "tier"):
        where = by_itself(edge) if edge.status == EdgeStatus.SUGGESTED else where_of(edge)
        assert WHERE[stands(mixed, edge)] == where, (edge.status, edge.placement, edge.content_gap)
        found = CandidateEdge.objects.filter(standing(mixed, stands(mixed, edge)))
        assert found.filter(pk=edge.pk).exists()


def test_the_four_places_add_up_to_all_links_and_the_kept_counts_say_so(mixed):
    numbers = facets(mixed, QueueFilter(status="all")).placements
    listed = {name: QueueFilter(status="all", placement=name).queryset(mixed).count() for name in PLACEMENTS}
    assert dict(numbers) == listed
    assert sum(listed[place.value] for place in Stands) == CandidateEdge.objects.count()
    kept = {one.value: total(standing(mixed, one, counted=True)) for one in Stands}
    assert kept_counts(mixed).aggregate(**kept) == {one.value: listed[one.value] for one in Stands}


def test_the_overview_counts_by_place_and_leads_to_the_queue_with_that_filter(mixed, client_for, manager):
    client = client_for(manager)
    page = client.get(reverse("project", args=[mixed.slug])).content.decode()
    for tier in mixed.tiers.filter(edges_exist(mixed)):
        for place in Stands:
            number = QueueFilter(tier=tier.pk, placement=place.value).queryset(mixed).count()
            address = f"?tier={tier.pk}&amp;placement={place.value}"
            assert (address in page) == bool(number), place
            if number:
                shown = client.get(reverse("queue", args=[mixed.slug]), {"tier": tier.pk, "placement": place.value})
                assert str(place.label) in shown.content.decode()


def edges_exist(project):
    from django.db.models import Q

    return Q(pk__in=project.edges.filter(status="suggested").values("tier"))


@pytest.mark.parametrize(
    ("setting", "with_paragraph", "without"),
    [("line", "line", "list"), ("beside", "list", "list"), ("gap", "gap", "gap")],
)
def test_what_leaves_unreviewed_goes_where_the_project_has_such_links_go(project, setting, with_paragraph, without):
    project.gap_links = setting
    project.save()
    lenient_tiers(project)
    page = make_page(project, "/camp", body=BODY, language="en")
    page.refresh_from_db()
    here = {"paragraph_start": 0, "paragraph_end": 36, "paragraph_hash": page.body_hash}
    asked = {"content_gap": True, "placement": "related", "score": 0.95}
    make_edge(project, page, make_page(project, "/one"), anchor="One", **asked, **here)
    make_edge(project, page, make_page(project, "/two"), anchor="Two", **asked)

    release = create_release(project, project.edges.all())

    rows = csv.DictReader(io.StringIO(b"".join(release_pieces(release)).decode(), newline=""))
    stood = {row["anchor_text"]: row for row in rows}
    assert {name: row["stands"] for name, row in stood.items()} == {"One": with_paragraph, "Two": without}
    assert {row["placement"] for row in stood.values()} == {"related"}
    if setting == "line":
        assert "More on this" in stood["One"]["html"]
