"""What a run writes on edges that are there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from django.db import transaction

from linker.matching import edges
from linker.matching.edge_writer import EdgeWriter, KnownEdge
from linker.models import CandidateEdge, QueueOrder, Run, RunKind
from linker.models.edge_columns import EDGE_COLUMNS, Refresh
from tests.factories import make_category, make_edge, make_page

if TYPE_CHECKING:
    from linker.models import Project


def values_of(edge: CandidateEdge, project: Project) -> dict[str, Any]:
    """Other values than those of the edge, in all that differs from pair to pair."""
    return {
        "source_id": edge.source_id,
        "target_id": edge.target_id,
        "generators": "{mentions,words}",
        "block_id": make_category(project, "Boots").pk,
        "level": 3,
        "similarity": 0.125,
        "score": 0.25,
        "probability": 0.375,
        "quantile": 0.0625,
        "why": "Tab\there, backslash \\ and\nline.",
        "evidence": '{"cosine": 0.125}',
        "donor_best": 0.75,
        "need": 0.5,
        "lacks": "no links",
        "authority": 0.875,
        "worth": 0.03125,
        "donor_worth": 0.046875,
        "tier_id": project.tiers.exclude(pk=edge.tier_id).first().pk,
        "placement": "inline",
        "rel": "ugc",
        "span_start": 3,
        "span_end": 9,
        "sentence": "A new sentence.",
        "section_heading": "A new heading",
        "body_hash": 77,
        "content_gap": False,
        "anchor": "new words",
        "anchor_source": "text",
        "anchor_alternatives": '[{"text": "others"}]',
    }


def stored(edge: CandidateEdge) -> dict[str, Any]:
    return CandidateEdge.objects.filter(pk=edge.pk).values(*(column.name for column in EDGE_COLUMNS)).get()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "refreshed"),
    [
        ({}, {Refresh.ALWAYS, Refresh.UNDECIDED, Refresh.UNEDITED}),
        ({"edited": True}, {Refresh.ALWAYS, Refresh.UNDECIDED}),
        ({"status": "accepted"}, {Refresh.ALWAYS}),
        ({"status": "rejected", "edited": True}, {Refresh.ALWAYS}),
    ],
)
def test_a_run_that_finds_a_pair_again_refreshes_what_the_list_says(project, fields, refreshed):
    edge = make_edge(project, stale=True, content_gap=True, placement="related", rel="follow", **fields)
    run = Run.objects.create(project=project, kind=RunKind.MATCH)
    writer, before, values = EdgeWriter(run, "formula"), stored(edge), values_of(edge, project)
    with transaction.atomic():
        with writer.open({}) as background:
            writer.begin(np.array([(edge.source_id,)], dtype=[("source", "i8")]))
            writer.add(values)
            writer.send(background)
        writer.refresh()
    after = stored(edge)
    changed = {name for name, value in after.items() if value != before[name]}
    assert changed == {column.name for column in EDGE_COLUMNS if column.refresh in refreshed}
    assert (writer.new, writer.refreshed) == (0, 1)
    if "why" in changed:
        assert after["why"] == values["why"]


@pytest.mark.django_db
def test_a_pair_without_an_edge_gets_one_and_a_value_for_every_column_is_asked_for(project):
    edge = make_edge(project)
    values = values_of(edge, project)
    run = Run.objects.create(project=project, kind=RunKind.MATCH)
    edge.delete()
    writer = EdgeWriter(run, "formula")
    with transaction.atomic():
        with writer.open({}) as background:
            writer.add(values)
            writer.send(background)
        writer.refresh()
    new = CandidateEdge.objects.get()
    assert (new.anchor, new.status, new.run, new.ranked_by, new.stale) == (
        "new words",
        "suggested",
        run,
        "formula",
        False,
    )
    assert (new.evidence, new.generators, new.sensitive) == ({"cosine": 0.125}, ["mentions", "words"], "")
    del values["lacks"]
    with pytest.raises(KeyError, match="lacks"):
        writer.add(values)


@pytest.mark.django_db
def test_an_edge_that_was_deleted_while_it_waited_is_there_again(project):
    edge = make_edge(project)
    run = Run.objects.create(project=project, kind=RunKind.MATCH)
    writer, values = EdgeWriter(run, "formula"), values_of(edge, project)
    with transaction.atomic():
        with writer.open({}) as background:
            writer.begin(np.array([(edge.source_id,)], dtype=[("source", "i8")]))
            writer.add(values)
            writer.send(background)
        edge.delete()
        writer.refresh()
    assert CandidateEdge.objects.get().anchor == "new words"


def test_the_best_of_a_donor_is_found_among_what_it_gets_and_what_it_keeps():
    """So that the edges of a run are not written again to say what was best before."""
    made = [
        {"source_id": donor, "target_id": 9, "score": 0.5, "worth": 0.25, "probability": 0.5} for donor in (1, 2, 3)
    ]
    before = {
        (1, 8): KnownEdge(0.9, 0.1, is_sure=False, is_open=True),  # not found again
        (2, 9): KnownEdge(0.9, 0.8, is_sure=False, is_open=True),  # refreshed
        (3, 9): KnownEdge(0.7, 0.6, is_sure=False, is_open=False),  # decided, and left as it was
    }
    edges._give_best_of_donors(made, before)
    assert [(edge["donor_best"], edge["donor_worth"]) for edge in made] == [(0.9, 0.25), (0.5, 0.25), (0.7, 0.6)]


def test_the_best_of_a_donors_sure_links_is_that_of_the_sure_ones_alone_and_so_of_the_others():
    """A page whose best link is sure would bring its doubtful ones before the sure ones of other pages."""
    chances = {1: 0.97, 2: 0.86, 3: 0.8, 4: float("nan")}
    made = [
        {"source_id": 5, "target_id": target, "score": 0.9 - target / 10, "worth": 0.1, "probability": chance}
        for target, chance in chances.items()
    ]
    made.append(made[0] | {"target_id": 8})  # decided as a doubtful one, and left as it was
    edges._give_best_of_donors(made, {(5, 8): KnownEdge(0.75, 0.2, is_sure=False, is_open=False)})
    assert [(edge["donor_best"], edge["donor_worth"]) for edge in made] == [(0.8, 0.2)] * 2 + [(0.75, 0.2)] * 3


@pytest.mark.django_db
def test_sure_suggestions_of_all_donors_come_before_the_others_once_donors_are_evened_out(project):
    first, second = make_page(project, "/first"), make_page(project, "/second")
    made = {
        (donor, chance): make_edge(project, donor, probability=chance, score=chance or 0.7, donor_best=0.1)
        for donor, chance in ((first, 0.8), (first, 0.97), (second, 0.9), (second, None), (first, 0.86))
    }
    with transaction.atomic():
        edges.stage_uneven_donors(project)
        edges.even_out_donor_best(project)
    listed = CandidateEdge.objects.order_by(*QueueOrder.DONOR.fields)
    assert [(edge.source, edge.probability) for edge in listed] == [
        (first, 0.97), (first, 0.86), (second, 0.9), (first, 0.8), (second, None),
    ]  # fmt: skip
    assert {edge.pk for edge in listed} == {edge.pk for edge in made.values()}
