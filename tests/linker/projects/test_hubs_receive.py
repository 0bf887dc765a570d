"""What becomes of projects that had left the former default of what hubs receive."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from linker.engine.roles.policy import PageRole, Receives
from linker.models import Change
from linker.pages.roles import links_by_role
from tests.factories import make_edge, make_page

pytestmark = pytest.mark.django_db
settle = import_module("linker.migrations.0057_hubs_receive_no_links").settle


def decided(project, *statuses: str):
    """Suggestions that lead to a hub, decided so; what the project has in its settings, and its log, afterwards."""
    hub = make_page(project, "/lists", role="hub")
    for number, status in enumerate(statuses):
        make_edge(project, make_page(project, f"/donor/{number}"), hub, status=status)
    settle(apps, SimpleNamespace(connection=connection))
    project.refresh_from_db()
    return project.role_links, [(one.before, one.after) for one in Change.objects.filter(project=project, kind="roles")]


NOTE = ({"Hub receives": "name"}, {"Hub receives": "no"})


@pytest.mark.parametrize("statuses", [(), ("suggested",), ("accepted", "rejected")])
def test_the_log_says_that_the_default_is_another(project, statuses):
    assert decided(project, *statuses) == ({}, [NOTE])


def test_a_project_whose_editors_approve_links_to_hubs_goes_on_as_before(project):
    project.role_links = {"hub": {"gives": "yes"}}
    project.save()
    assert decided(project, "accepted", "exported", "rejected") == ({"hub": {"gives": "yes", "receives": "name"}}, [])


def test_a_shop_goes_on_as_before(project):
    for number in range(10):
        make_page(project, f"/product/{number}", role="product")
    assert decided(project) == ({}, [])
    assert links_by_role(project)[PageRole.HUB].receives is Receives.NAME


def test_what_a_project_chose_stays(project):
    project.role_links = {"hub": {"receives": "yes"}}
    project.save()
    assert decided(project) == ({"hub": {"receives": "yes"}}, [])


def test_a_project_without_hubs_has_no_note(project):
    settle(apps, SimpleNamespace(connection=connection))
    assert not Change.objects.filter(project=project, kind="roles").exists()
