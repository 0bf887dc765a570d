"""A match of what changed that commits: by the command, and beside a setting that changes."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import transaction

from linker import audit
from linker.matching import edges
from linker.matching.kept_runs import standing_run
from linker.models import ChangeKind, Page, Project, RunKind
from linker.models.querysets import OPEN
from linker.storage.locks import lock_project
from tests.barriers import meet
from tests.guides import make_guides, match
from tests.linker.matching.test_changes import change, match_changes


@pytest.mark.nightly
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


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_setting_that_changes_while_words_are_chosen_holds_for_what_is_stored(project, monkeypatch):
    guides = make_guides(project, 40)
    match(project)
    page = Page.objects.get(pk=guides.pages[3])
    change(page)
    banned = list(project.edges.filter(OPEN, source=page).values_list("anchor", flat=True))

    def ban() -> None:
        with transaction.atomic():
            lock_project(project.pk)
            Project.objects.filter(pk=project.pk).update(banned_anchors=[anchor.lower() for anchor in banned])
            audit.record(project, ChangeKind.SETTINGS, user=None, before={"banned": 0}, after={"banned": len(banned)})

    met = meet(monkeypatch, lambda: match_changes(project), (edges, "_give_best_of_donors"), ban)

    assert not isinstance(met.first, Exception), met.first
    assert not met.waited
    said = set(project.edges.filter(OPEN, source=page).values_list("anchor", flat=True))
    assert banned
    assert not said & set(banned)
