"""Each reader chooses between light and dark, and how much stands on a screen."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client_for, viewer):
    return client_for(viewer)


def html(client) -> str:
    return client.get("/p/shop/").content.decode().split("<head>")[0]


def test_pages_look_as_the_system_says_until_somebody_chooses(reader, project):
    assert 'data-theme="system" data-density="comfortable"' in html(reader)
    answer = reader.post("/look/", {"theme": "dark", "density": "compact", "back": "/p/shop/runs/?kind=match"})
    assert answer.url == "/p/shop/runs/?kind=match"
    assert 'data-theme="dark" data-density="compact"' in html(reader)


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_the_way_back_never_leaves_the_site(reader, project, back):
    assert reader.post("/look/", {"theme": "dark", "density": "compact", "back": back}).url == "/"


@pytest.mark.parametrize("cookie", ["", "dark", ".", "evil.evil", '"><script>', "dark.evil"])
def test_a_cookie_that_says_something_else_is_as_usual(reader, project, cookie):
    reader.cookies["anchorline-look"] = cookie
    page = html(reader)
    assert 'data-density="comfortable"' in page
    assert "evil" not in page
    assert "<script" not in page


def test_what_is_no_look_is_not_kept(reader, project):
    answer = reader.post("/look/", {"theme": "pink", "density": "compact", "back": "/p/shop/"})
    assert "anchorline-look" not in answer.cookies
    assert reader.get("/look/").status_code == 405
