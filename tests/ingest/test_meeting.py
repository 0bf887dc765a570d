"""What people do while an import is under way does not wait for it."""

from __future__ import annotations

import pytest

from ingest import services
from ingest.kinds.pages import load
from linker.models import Invitation, Page, RoleRule, Run, RunKind
from linker.pages.roles import run_find_roles
from linker.projects import invitations, members
from linker.projects.policies.roles import add_role_rule
from linker.runs import lifecycle
from tests.barriers import meet
from tests.factories import make_member
from tests.ingest.files import SITE, write_pages

pytestmark = pytest.mark.django_db(transaction=True)


def _import(project, folder):
    path = write_pages(folder / "pages.csv", "/x/a", "/x/b", "/c")
    return lambda: services.import_file(project, "pages", path)


def test_an_invitation_does_not_wait_for_an_import(project, manager, tmp_path, monkeypatch):
    met = meet(
        monkeypatch,
        _import(project, tmp_path),
        (load, "find_sensitive"),  # when pages are written that name the project
        lambda: invitations.invite(project, "editor", "nina@example.com", by=manager),
    )
    assert not met.waited
    assert not isinstance(met.second, Exception), met.second
    assert Invitation.objects.count() == 1
    assert Page.objects.count() == 3, met.first


@pytest.mark.nightly
def test_a_member_is_removed_while_an_import_is_under_way(project, manager, tmp_path, monkeypatch):
    other = make_member(project, "viewer").memberships.get()
    met = meet(
        monkeypatch,
        _import(project, tmp_path),
        (load, "find_sensitive"),
        lambda: members.remove_member(project, other.pk, by=manager),
    )
    assert not met.waited
    assert not isinstance(met.second, Exception), met.second
    assert Page.objects.count() == 3, met.first


@pytest.mark.nightly
def test_roles_found_beside_an_import_wait_for_it_before_they_hold_the_project(project, tmp_path, monkeypatch):
    again = _import(project, tmp_path)
    again()
    RoleRule.objects.create(project=project, pattern="/x/", role="hub")
    run = lifecycle.start_run(project, RunKind.ROLES, {})
    met = meet(monkeypatch, again, (load, "find_sensitive"), lambda: run_find_roles(run, lifecycle.no_progress))
    assert not isinstance(met.first, Exception), met.first
    assert not isinstance(met.second, Exception), met.second
    hubs = Page.objects.filter(role_in_force="hub").order_by("url").values_list("url", flat=True)
    assert list(hubs) == [f"{SITE}/x/a", f"{SITE}/x/b"]


@pytest.mark.nightly
def test_a_rule_on_roles_that_is_added_during_an_import_is_applied_by_a_run(project, manager, tmp_path, monkeypatch):
    again = _import(project, tmp_path)
    again()
    rule = RoleRule(project=project, pattern="/x/", role="hub")
    met = meet(monkeypatch, again, (load, "find_sensitive"), lambda: add_role_rule(rule, manager))
    assert not isinstance(met.first, Exception), met.first
    assert not met.waited
    assert isinstance(met.second, Run), met.second
