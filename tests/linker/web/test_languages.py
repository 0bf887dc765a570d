"""Each reader chooses a language, before signing in too; whoever chooses none is asked by the browser."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import translation

from linker import audit
from linker.models import ChangeKind

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def test_the_log_of_changes_says_in_german_what_was_changed(project, manager, client_for):
    client = client_for(manager)
    client.cookies["django_language"] = "de"
    for subject in ("Match run 12 taken again, run 13", "Release 3 withdrawn", "Invitation 4 as editor", "/outlet/"):
        audit.record(project, ChangeKind.RUNS, user=manager, subject=subject, after={"links": 1})
    page = client.get(f"/p/{project.slug}/settings/log/").content.decode()
    for said in ("Abgleich 12 wieder übernommen, Lauf 13", "Auslieferung 3 zurückgezogen", "Einladung 4 als Redakteur"):
        assert said in page
    assert ">/outlet/<" in page


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("", "en-gb"),
        ("en-US,en;q=0.5", "en-gb"),
        ("de", "de"),
        ("de-AT,en;q=0.5", "de"),
        ("fr", "en-gb"),
        ("%", "en-gb"),
    ],
)
def test_the_browser_says_which_language_its_reader_wants(asked, language):
    answer = Client(headers={"accept-language": asked} if asked else {}).get("/login/")
    assert f'<html lang="{language}"' in answer.text
    assert "Accept-Language" in answer["Vary"]


def test_a_choice_counts_for_more_than_the_browser_and_needs_no_account():
    client = Client(headers=GERMAN)
    chosen = {"theme": "dark", "density": "compact", "lang": "en-gb", "back": "/login/"}
    answer = client.post("/look/", chosen)
    assert (answer.status_code, answer.url) == (302, "/login/")
    page = client.get("/login/").text
    assert '<html lang="en-gb" data-theme="dark"' in page
    assert '<option value="en-gb" selected>English</option>' in page


def test_a_choice_is_taken_back_by_leaving_it_to_the_browser():
    client = Client()
    chosen = {"theme": "dark", "density": "compact", "back": "/login/"}
    client.post("/look/", {**chosen, "lang": "de"})
    assert '<html lang="de"' in client.get("/login/").text
    client.post("/look/", {**chosen, "lang": ""})
    assert '<html lang="en-gb"' in client.get("/login/").text


@pytest.mark.parametrize("language", ["fr", "../de", '"><script>'])
def test_a_language_that_there_is_not_is_not_kept(language):
    answer = Client().post("/look/", {"theme": "dark", "density": "compact", "lang": language})
    assert not answer.cookies
    client = Client()
    client.cookies["django_language"] = language
    assert '<html lang="en-gb"' in client.get("/login/").text


def test_a_thread_that_answered_in_german_goes_on_in_nobodys_language():
    assert '<html lang="de"' in Client(headers=GERMAN).get("/login/").text
    assert translation.get_language() == "en-gb"
