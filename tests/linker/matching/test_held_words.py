"""What is held back keeps the words of its text, so that a lower bound brings it there without another match."""

from __future__ import annotations

import pytest

from linker.matching.tiers import retier
from linker.models import Placement, Project
from linker.models.querysets import OPEN
from tests.guides import guides_once, match, matched_once, site
from tests.guides import matched_project as project

pytestmark = pytest.mark.django_db
__all__ = ["guides_once", "matched_once", "project", "site"]


def test_a_lower_bound_brings_what_was_held_back_into_the_text(project, site):
    likely = project.tiers.get(name="Likely", basis=project.tier_basis)
    in_text = project.edges.filter(OPEN, span_start__isnull=False)
    above = sorted(in_text.values_list("probability", flat=True))[-5]
    project.tiers.filter(pk=likely.pk).update(lower_bound=above)
    project.tiers.filter(name="Related", basis=project.tier_basis).update(lower_bound=above - 1e-4)
    match(project)
    held = in_text.filter(tier__held=True)
    waiting = {edge.pk: edge.probability for edge in held}
    assert len(waiting) > 20
    assert set(held.values_list("placement", flat=True)) == {Placement.RELATED}
    assert all(
        edge.source.body[edge.span_start : edge.span_end] == edge.anchor for edge in held.select_related("source")
    )

    project.tiers.filter(pk=likely.pk).update(lower_bound=min(waiting.values()))
    retier(Project.objects.get(pk=project.pk))
    moved = project.edges.filter(pk__in=waiting, placement=Placement.INLINE)
    assert moved.count() > len(waiting) / 2  # others find no room in texts that are full
    assert not moved.filter(tier__held=True).exists()


def test_words_of_what_is_held_back_take_no_turn_of_a_target_words(project, site):
    likely = project.tiers.get(name="Likely", basis=project.tier_basis)
    shown = project.edges.filter(OPEN, tier=likely, span_start__isnull=False)
    before = dict(shown.values_list("pk", "anchor"))
    match(project)
    assert dict(shown.values_list("pk", "anchor")) == before
