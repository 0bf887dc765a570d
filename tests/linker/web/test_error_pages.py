"""What people see when something is not there, not allowed, out of date or broken."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.views.defaults import server_error


@pytest.mark.django_db
def test_an_address_that_leads_nowhere_gets_the_products_own_page(manager, client_for):
    response = client_for(manager).get("/p/nowhere/")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()
    assert manager.username in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["match", "match_count", "settings", "exclusion_preview", "import"])
def test_a_role_that_is_too_low_is_told_which_one_it_takes(name, project, editor, client_for):
    response = client_for(editor).get(reverse(name, args=[project.slug]))
    assert response.status_code == 403
    assert "This needs the role of manager in Shop" in response.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_token_saves_nothing_and_says_what_to_do(project, manager):
    client = Client(enforce_csrf_checks=True)
    client.force_login(manager)
    response = client.post(reverse("embed", args=[project.slug]))
    assert response.status_code == 403
    assert "That form was out of date" in response.content.decode()
    assert not project.runs.exists()


def test_the_page_for_a_broken_server_needs_no_database(rf):
    response = server_error(rf.get("/"))
    assert response.status_code == 500
    assert "Something broke on our side" in response.content.decode()
