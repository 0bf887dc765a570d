"""What a rule would take is counted and shown before it is saved, within bounds, and can be taken back after."""

from __future__ import annotations

import random
import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge, Category, ExclusionRule, SensitiveRule
from linker.models.policy import Side
from linker.models.querysets import OPEN
from linker.projects import rule_preview
from linker.projects.policies.sensitive import add_sensitive
from linker.projects.rule_preview import excluded, newly_sensitive
from tests.factories import make_category, make_edge, make_member, make_page, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    chance = random.Random(7)
    category = make_category(project, "Shop", "Tents")
    pages = [
        make_page(project, f"/{'shop' if n % 3 else 'legal'}/{n}", title=f"Page {n} {'hypnosis' if n % 4 == 0 else ''}",
                  category=category if n % 5 == 0 else None)
        for n in range(14)
    ]  # fmt: skip
    pairs = [(one, other) for one in pages for other in pages if one != other]
    return [
        make_edge(project, *pair, score=0.6 + n / 200, stale=n % 7 == 0,
                  status="rejected" if n % 5 == 0 else "suggested", sensitive="x" if n % 6 == 0 else "")
        for n, pair in enumerate(chance.sample(pairs, 40))
    ]  # fmt: skip


def undo_form(page: str) -> tuple[str, dict[str, str]]:
    form = re.search(r'<form class="notice undo" method="post" action="([^"]*)">(.*?)</form>', page, re.S)
    assert form is not None, "there is nothing to undo"
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form[2])
    return unescape(form[1]), {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


def said(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", unescape(response.content.decode())).split())


@pytest.mark.nightly
@pytest.mark.parametrize("side", Side.values)
@pytest.mark.parametrize("pattern", ["/legal/", "/shop/1", "nothing", "."])
def test_an_exclusion_takes_what_a_look_at_every_suggestion_finds(project, edges, side, pattern):
    def is_taken(edge) -> bool:
        donor, acceptor = (re.search(pattern, page.url) for page in (edge.source, edge.target))
        return bool((donor and side != Side.ACCEPTOR) or (acceptor and side != Side.DONOR))

    taken = [edge for edge in CandidateEdge.objects.filter(OPEN, project=project) if is_taken(edge)]
    found = excluded(project, pattern, side)
    assert (found.number, found.is_more) == (len(taken), False)
    assert found.examples == sorted(taken, key=lambda edge: (-edge.score, edge.pk))[:10]


@pytest.mark.nightly
@pytest.mark.parametrize("about", [{"word": "hypnosis"}, {"url_pattern": "/legal/"}, {"category": "Shop"}])
def test_a_sensitive_rule_marks_what_was_said(project, edges, about):
    if "category" in about:
        about = {"category": Category.objects.get(project=project, name="Shop")}
    rule = SensitiveRule(project=project, kind="medical", **about)
    found = newly_sensitive(rule)
    unmarked = CandidateEdge.objects.filter(OPEN, project=project, sensitive="")
    before = set(unmarked.values_list("pk", flat=True))
    add_sensitive(rule)
    marked = before - set(unmarked.values_list("pk", flat=True))
    assert found.number == len(marked) > 0
    assert {edge.pk for edge in found.examples} <= marked
    assert len(found.examples) == min(10, len(marked))


@pytest.mark.nightly
def test_counting_stops_at_its_bound_and_says_more(project, edges, monkeypatch):
    monkeypatch.setattr(rule_preview, "MOST", 5)
    found = excluded(project, ".", "both")
    assert (found.number, found.is_more) == (5, True)
    monkeypatch.setattr(rule_preview, "MOST", 10_000)
    monkeypatch.setattr(rule_preview, "MOST_PAGES", 3)
    assert excluded(project, ".", "both").is_more


@pytest.mark.nightly
def test_an_exclusion_is_shown_first_and_taken_back_after(project, edges, manager, client_for):
    client, address = client_for(manager), "/p/shop/settings/exclusions/"
    rule = {"pattern": "/legal/", "side": "both", "note": "a note"}
    number = excluded(project, "/legal/", "both").number
    page = said(client.post(address, rule | {"check": "1"}))
    assert f"{number} open suggestions would not be proposed by the next match, such as" in page
    assert not ExclusionRule.objects.exists()
    live = said(client.get(f"{address}matches/", {"pattern": "/legal/", "side": "donor"}))
    assert f"{excluded(project, '/legal/', 'donor').number} open suggestions" in live
    action, fields = undo_form(client.post(address, rule, follow=True).content.decode())
    page = client.post(action, fields, follow=True).content.decode()
    assert not ExclusionRule.objects.exists()
    client.post(*undo_form(page))
    assert ExclusionRule.objects.values("pattern", "side", "note").get() == rule


@pytest.mark.nightly
def test_a_sensitive_rule_is_shown_first_and_taken_back_after(project, edges, manager, client_for):
    client, address = client_for(manager), "/p/shop/settings/sensitive/"
    rule = {"kind": "legal", "word": "hypnosis", "category": "", "url_pattern": ""}
    page = said(client.post(address, rule | {"check": "1"}))
    assert "open suggestions would need human review, which they do not need now, such as" in page
    assert not SensitiveRule.objects.exists()
    action, fields = undo_form(client.post(address, rule, follow=True).content.decode())
    page = client.post(action, fields, follow=True).content.decode()
    assert not SensitiveRule.objects.exists()
    client.post(*undo_form(page))
    assert SensitiveRule.objects.values_list("kind", "word").get() == ("legal", "hypnosis")


@pytest.mark.parametrize(
    ("state", "do", "back"), [("proposed", "dismiss", "confirmed"), ("dismissed", "confirm", "dismissed")]
)
def test_a_decision_on_a_proposed_rule_is_taken_back(project, manager, client_for, state, do, back):
    client, address = client_for(manager), "/p/shop/settings/sensitive/decide/"
    rule = SensitiveRule.objects.create(
        project=project, kind="legal", word="x", word_key="x", proposed=True, state=state
    )
    page = client.post(address, {"do": do, "rule": rule.pk}, follow=True).content.decode()
    client.post(*undo_form(page))
    rule.refresh_from_db()
    assert rule.state == back


@pytest.mark.nightly
def test_weights_say_when_they_count_and_are_taken_back(project, manager, client_for):
    client, address = client_for(manager), "/p/shop/settings/ranking/"
    make_edge(project, ranked_by="formula")
    client.post(address, weights := {"similarity": "0.5", "words": "0.9", "mention": "1", "authority": "0.1",
                                     "deficit": "0.05", "density": "0.05", "distance": "0.02"})  # fmt: skip
    page = said(client.post(address, weights | {"similarity": "2", "check": "1"}))
    assert "Similarity: 0.5 → 2" in page
    assert "1 open suggestion was ranked by the formula" in page
    assert "nothing moves in the queue" in page
    project.refresh_from_db()
    assert project.formula_weights == {"similarity": 0.5}
    client.post(address, weights | {"similarity": "0.12345678"})
    page = client.post(address, {"reset": "1"}, follow=True).content.decode()
    client.post(*undo_form(page))
    project.refresh_from_db()
    assert project.formula_weights == {"similarity": 0.12345678}


@pytest.mark.parametrize("tab", ["exclusions", "sensitive", "ranking"])
def test_who_is_no_manager_is_shown_nothing(project, editor, client_for, tab):
    fields = {"pattern": "a", "side": "both", "kind": "legal", "word": "hypnosis", "check": "1"}
    assert client_for(editor).post(f"/p/shop/settings/{tab}/", fields).status_code == 403
    outsider = client_for(make_member(make_project("other")))
    assert outsider.post(f"/p/shop/settings/{tab}/", fields).status_code == 404


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tab", "fields"),
    [("exclusions", {"pattern": ".", "side": "both"}), ("sensitive", {"kind": "legal", "url_pattern": "."})],
)
def test_a_preview_asks_as_much_for_many_suggestions_as_for_few(project, manager, client_for, tab, fields):
    client = client_for(manager)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.post(f"/p/shop/settings/{tab}/", fields | {"check": "1"}).status_code == 200
        return len(queries)

    make_edge(project)
    asked()
    few = asked()
    for _ in range(20):
        make_edge(project)
    assert asked() == few
