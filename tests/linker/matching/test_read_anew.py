"""Whoever has waited for the project reads suggestions by the settings that hold once it has it, and not by those that
it had read before."""

from __future__ import annotations

import pytest
from django.utils import timezone

from linker.matching import away
from linker.matching.caps_run import run_apply_caps
from linker.matching.suppressions import lift
from linker.matching.tiers import catch_up
from linker.models import Basis, Cohort, CohortBound, Page, Project, RunKind, Suppression, Tier
from linker.projects.policies.tiers import change_tiers
from linker.runs import lifecycle
from review.decisions import decide_edges
from review.models import Verb
from review.undoing import undo
from tests.factories import make_edge, make_page

pytestmark = pytest.mark.django_db


def _apply_caps(project, manager, edge):
    run = lifecycle.start_run(project, RunKind.CAPS, {}, to_queue=False)
    return lambda: run_apply_caps(run)


def _undo(project, manager, edge):
    [decision] = decide_edges(project, [edge.pk], Verb.ACCEPT, manager).decided
    return lambda: undo(project, manager, decision)


def _allow_again(project, manager, edge):
    rejected = make_edge(project, edge.source, status="rejected")
    ruled_out = Suppression.objects.create(
        project=project, kind="page", reach="good", edge=rejected, source=edge.source, target=rejected.target,
        made_by=manager,
    )  # fmt: skip
    type(edge).objects.filter(pk=edge.pk).update(stale=True, suppressed_by=ruled_out)
    return lambda: lift(project, [ruled_out.pk], manager)


def _bring_a_page_back(project, manager, edge):
    Page.objects.filter(pk=edge.target_id).update(indexable=False)
    assert away.follow(project).left == 1
    Page.objects.filter(pk=edge.target_id).update(indexable=True)
    return lambda: away.follow(project)


def _move_a_bound(project, manager, edge):
    tier = Tier.objects.get(project=project, basis=Basis.COSINE, name="Related")
    tier.lower_bound = 0.6
    return lambda: change_tiers(project, [tier], user=manager)


def _catch_up(project, manager, edge):
    # Bounds of their own, as those of the project, for pages that there are none of.
    of_products = {"project": project, "basis": Basis.PROBABILITY}
    cohort = Cohort.objects.create(**of_products, role="product", looked_at=timezone.now())
    for tier in Tier.objects.filter(**of_products):
        CohortBound.objects.create(**of_products, cohort=cohort, tier=tier, lower_bound=tier.lower_bound)
    return lambda: catch_up(project)


@pytest.mark.parametrize(
    "work",
    [_apply_caps, _undo, _allow_again, _bring_a_page_back, _move_a_bound, _catch_up],
    ids=lambda work: work.__name__,
)
def test_tiers_are_those_of_the_basis_that_is_in_use_by_now(project, manager, work):
    # By the probability it is in no tier, by the cosine in the first.
    edge = make_edge(project, make_page(project), make_page(project), score=0.85, probability=0.1)
    do = work(Project.objects.get(pk=project.pk), manager, edge)
    change_tiers(project, [], user=manager, use=Basis.COSINE, basis=Basis.COSINE)
    do()
    edge.refresh_from_db()
    assert (edge.status, edge.stale) == ("suggested", False)
    assert edge.tier is not None
    assert edge.tier.basis == Basis.COSINE
