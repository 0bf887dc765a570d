"""No tier is a hundredth wide: not of a new project, not by the form, and former ones are merged."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import pytest
from django.apps import apps
from django.utils import timezone

from linker.models import Basis, Change, Cohort, CohortBound, Tier
from linker.projects.create import create_project
from linker.web.forms.tiers import LEAST_WIDTH, former_values, tier_formset
from tests.factories import make_edge

pytestmark = pytest.mark.django_db
merge = import_module("linker.migrations.0051_no_narrow_tiers").merge


def bounds(project, basis: str = Basis.PROBABILITY) -> list[tuple[str, float]]:
    tiers = Tier.objects.filter(project=project, basis=basis).order_by("-lower_bound")
    return [(tier.name, tier.lower_bound) for tier in tiers]


def narrow(project) -> tuple[Tier, Tier]:
    """The tiers of the probability as new projects had them."""
    inline, related, _reserve = Tier.objects.filter(project=project, basis=Basis.PROBABILITY).order_by("-lower_bound")
    Tier.objects.filter(pk=related.pk).update(lower_bound=0.74)
    return inline, related


def test_no_tier_of_a_new_project_is_a_hundredth_wide():
    project = create_project(slug="new", name="New", base_url="https://new.example")
    for basis in Basis:
        lower = [bound for _name, bound in bounds(project, basis)]
        assert all(high - low >= LEAST_WIDTH for high, low in pairwise(lower))


def test_the_form_refuses_a_tier_of_a_hundredth_and_says_why(project):
    fields = dict(former_values(project, Basis.PROBABILITY, list(project.tiers.filter(basis=Basis.PROBABILITY))))
    [place] = [name.rsplit("-", 1)[0] for name, value in fields.items() if value == "Related"]
    formset = tier_formset(project, Basis.PROBABILITY, fields | {f"{place}-lower_bound": "0.74"})
    assert not formset.is_valid()
    [said] = [error for errors in formset.errors for error in errors.get("lower_bound", [])]
    assert said == "Hardly a suggestion would be in this tier: let it begin at least 0.02 below “Likely”."
    assert tier_formset(project, Basis.PROBABILITY, fields | {f"{place}-lower_bound": "0.73"}).is_valid()


def test_a_former_tier_of_a_hundredth_is_merged_into_the_one_above_with_a_note(project):
    inline, related = narrow(project)
    edge = make_edge(project, probability=0.745)
    type(edge).objects.filter(pk=edge.pk).update(tier=related)
    merge(apps, None)
    edge.refresh_from_db()
    assert edge.tier == inline
    assert bounds(project) == [("Likely", 0.74), ("Reserve", 0.3)]
    note = Change.objects.get(project=project, kind="tiers")
    assert (note.before, note.after) == ({"Likely": "from 0.75", "Related": "from 0.74"}, {"Likely": "from 0.74"})
    merge(apps, None)
    assert Change.objects.filter(project=project, kind="tiers").count() == 1


def test_a_narrow_tier_stays_that_leaves_unreviewed_or_that_other_bounds_name(project):
    _inline, related = narrow(project)
    Tier.objects.filter(pk=related.pk).update(export_unreviewed=True)
    merge(apps, None)
    assert ("Related", 0.74) in bounds(project)
    Tier.objects.filter(pk=related.pk).update(export_unreviewed=False)
    cohort = Cohort.objects.create(project=project, basis=Basis.PROBABILITY, role="hub", looked_at=timezone.now())
    CohortBound.objects.create(cohort=cohort, tier=related, project=project, basis=Basis.PROBABILITY, lower_bound=0.5)
    merge(apps, None)
    assert ("Related", 0.74) in bounds(project)
