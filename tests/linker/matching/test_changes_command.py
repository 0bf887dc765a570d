"""The command that matches what changed."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from linker.matching.kept_runs import standing_run
from linker.models import Page, RunKind
from tests.guides import make_guides
from tests.linker.matching.test_changes import change


@pytest.mark.django_db(transaction=True)
def test_it_matches_what_changed_and_the_whole_site_where_that_is_due(project, capsys):
    guides = make_guides(project)
    call_command("match_project", project.slug, "--changed")
    assert "whole site is matched" in capsys.readouterr().out
    run = standing_run(project)
    assert run.kind == RunKind.MATCH
    change(Page.objects.get(pk=guides.pages[3]))
    call_command("match_project", project.slug, "--changed")
    assert "1 page is new or has changed" in capsys.readouterr().out
    assert standing_run(project) == run
