"""What people do while an import is under way does not wait for it."""

from __future__ import annotations

import pytest

from ingest import services
from ingest.kinds.pages import load
from linker.models import Invitation, Page
from linker.projects import invitations, members
from tests.barriers import meet
from tests.factories import make_member
from tests.ingest.files import write_pages

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
