"""No cache keeps what one person may read, and going back shows what is true now."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["project", "pages", "queue", "releases", "settings", "import"])
def test_signed_in_pages_are_stored_nowhere(name, project, manager, client_for):
    response = client_for(manager).get(reverse(name, args=[project.slug]))
    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("address", ["/", "/p/nowhere/", "/login/"])
def test_refusals_redirects_and_the_sign_in_page_are_not_stored_either(address, db):
    assert "no-store" in Client().get(address)["Cache-Control"]


def test_a_file_that_leaves_is_stored_by_nobody_in_between(project, manager, client_for):
    response = client_for(manager).get(reverse("suggestions_csv", args=[project.slug]))
    assert response["Cache-Control"] == "private, no-store"
