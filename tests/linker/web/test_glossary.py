"""Words of the trade are explained where they first stand, in the same words as in the docs."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path

import pytest
from django.template import Context, Template
from django.urls import reverse

from linker.web.glossary import TERMS
from tests.factories import make_edge, make_page, make_run

ROOT = Path(__file__).resolve().parents[3]


def render(source: str) -> str:
    return Template("{% load anchorline %}" + source).render(Context())


def test_a_word_is_explained_once_on_a_page():
    page = render('{% term "orphan" "Orphans" %} {% term "orphan" %}')
    assert page.count("popovertarget=") == 1
    assert page.endswith(" orphan")
    assert TERMS["orphan"] in page


def test_the_next_page_explains_it_again():
    template = Template('{% load anchorline %}{% term "orphan" %}')
    assert template.render(Context()) == template.render(Context())


def test_every_word_of_the_glossary_is_explained_on_a_page_and_no_other():
    used = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r'{% term "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert used == TERMS.keys()


def test_the_docs_say_the_same():
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.M)
    assert dict(rows[2:]) == TERMS
    assert list(TERMS) == sorted(TERMS, key=str.casefold)


PLAIN = ["project", "pages", "runs", "import", "match", "queue", "why_not", "releases", "next_held", "left_links"]
SETTINGS = ["", "_ranking", "_tiers", "_sensitive", "_exclusions", "_members", "_vectors", "_log"]


@pytest.mark.sample(6)
@pytest.mark.django_db
@pytest.mark.parametrize("name", [*PLAIN, *(f"settings{tab}" for tab in SETTINGS), "page", "run", "edge"])
def test_no_page_has_two_elements_of_one_id(name, project, manager, client_for):
    source, target = make_page(project, "/a", body="A word. " * 50), make_page(project, "/b")
    edges = [make_edge(project, source, target), make_edge(project, target, source, score=0.1)]
    run = make_run(project, "match", report={"edges": 2, "tiers": {"Inline": 2}})
    number = {"page": source.pk, "run": run.pk, "edge": edges[0].pk}.get(name)
    address = reverse(name, args=[project.slug, *([number] if number else [])])
    page = client_for(manager).get(address, {"donor": source.url, "acceptor": target.url} if name == "why_not" else {})
    assert page.status_code == 200
    ids = re.findall(r'\sid="([^"]+)"', page.content.decode())
    assert [one for one, times in Counter(ids).items() if times > 1] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "word"),
    [("queue_filters", "held back"), ("import", "vector"), ("why_not", "donor"), ("settings", "vector")],
)
def test_pages_whose_labels_use_words_of_the_trade_explain_them(name, word, project, manager, client_for):
    page = client_for(manager).get(reverse(name, args=[project.slug])).content.decode()
    assert TERMS[word] in html.unescape(page)


@pytest.mark.django_db
def test_the_overview_explains_what_an_orphan_is(project, viewer, client_for):
    page = client_for(viewer).get(reverse("project", args=[project.slug])).content.decode()
    assert TERMS["orphan"] in page


@pytest.mark.django_db
def test_the_short_name_is_made_from_the_name(client_for, django_user_model):
    staff = django_user_model.objects.create_user("staff", password="correct horse battery", is_staff=True)
    client = client_for(staff)
    values = {"name": "Müller & Söhne, Zürich", "slug": "", "base_url": "https://www.mueller.example"}
    answer = client.post(reverse("project_create"), values)
    assert answer["Location"] == reverse("project", args=["muller-sohne-zurich"])
    again = client.post(reverse("project_create"), values)
    assert "There is already a project with the short name “muller-sohne-zurich”." in again.content.decode()
    odd = client.post(reverse("project_create"), values | {"name": "日本"})
    assert "The name gives no short name." in odd.content.decode()
