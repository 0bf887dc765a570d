"""`manage.py match_project`: its flags become the run's parameters, or a sentence."""

from __future__ import annotations

import contextlib

import pytest
from django.core.management import CommandError, call_command

from linker.engine.params import MatchParams
from linker.models import Project, Run
from linker.reports.words import report_rows
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def params_of(project: Project, *flags: str) -> dict:
    """Of the run that the command starts; without pages it fails, and keeps them."""
    with contextlib.suppress(CommandError):
        call_command("match_project", project.slug, *flags)
    return Run.objects.get(project=project).params


def test_without_flags_everything_is_as_usual_and_the_weights_are_the_projects(project):
    project.formula_weights = {"mention": 2.0}
    project.save()
    usual = MatchParams(weights={"mention": 2.0}).to_dict()
    found = params_of(project)
    assert {name: found[name] for name in found if name not in {"donors", "acceptors", "generators"}} == {
        name: usual[name] for name in usual if name not in {"donors", "acceptors", "generators"}
    }
    assert found["generators"] == []


def test_every_cap_can_be_given(project):
    found = params_of(
        project,
        *("--ranking", "formula", "--mode", "optimal", "--threshold", "0.3", "--inline-per-donor", "30"),
        *("--related-per-donor", "20", "--per-target", "0", "--target-share", "0.5", "--reciprocal", "1"),
    )
    assert (found["ranking"], found["mode"], found["threshold"]) == ("formula", "optimal", 0.3)
    assert (found["inline_per_donor"], found["related_per_donor"], found["pool"]) == (30, 20, 100)
    assert (found["per_target"], found["target_share"], found["reciprocal"]) == (0, 0.5, 1)


@pytest.mark.parametrize(
    ("flags", "scope", "levels"),
    [([], "auto", 2), (["--levels-up", "1"], "levels", 1), (["--whole-site"], "site", 2)],
)
def test_the_scope_is_the_rankings_own_unless_it_is_given(flags, scope, levels, project):
    found = params_of(project, *flags)
    assert (found["scope"], found["levels_up"]) == (scope, levels)


def test_generators_are_chosen_or_switched_off(project):
    assert params_of(project, "--generators", "nearest, mention", "--without", "mention")["generators"] == ["nearest"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--generators", "clairvoyance"], "there is no generator clairvoyance; there are category"),
        (["--without", "clairvoyance"], "there is no generator clairvoyance"),
        (["--generators", "mention", "--without", "mention"], "leave at least one"),
        (["--target-share", "0"], "must be above 0"),
        (["--inline-per-donor", "0", "--related-per-donor", "0"], "together they must be between 1 and 1000"),
    ],
)
def test_flags_that_make_no_run_are_refused_with_a_sentence(flags, said, project):
    with pytest.raises(CommandError, match=said):
        call_command("match_project", project.slug, *flags)
    assert not Run.objects.exists()


def test_what_the_command_prints_names_generators_as_the_pages_do(project):
    run = make_run(project, report={"generators": {"reciprocal": 7, "mention": 2}})
    assert report_rows(run) == [("Candidates come from: links back", "7"), ("Candidates come from: mention", "2")]
