"""Links of pages that have a gate leave only when somebody else has approved them."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.errors import UserError
from linker.matching.safety_run import run_apply_safety
from linker.models import Change, ExpertSection, Gate, Membership, PageList, RunKind, SafetyClass
from linker.projects import rule_preview
from linker.projects.gate_preview import effect_of
from linker.projects.policies.gates import add_gate, end_gate
from linker.projects.policies.safety import end_class, save_class
from review import second_person
from review.decisions import decide_edges, decision_on, with_outcome, write_decisions
from review.models import Decision, Held, Verb
from review.queue import selectors
from review.queue.filters import QueueFilter
from review.second_person import NotTheSecond
from review.undoing import undo
from tests.factories import lenient_tiers, make_category, make_edge, make_member, make_page, make_run
from tests.linker.projects.test_rule_preview import undo_form
from tests.markup import compact
from tests.review.test_checks import held_of
from tests.review.test_export_file import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def gate(project, redis_server, manager) -> Gate:
    gate = Gate(project=project, min_clicks=100)
    add_gate(gate, manager)
    return gate


@pytest.fixture
def edge(project, gate):
    return make_edge(project, make_page(project, clicks=100), make_page(project, clicks=3))


def of(project, user) -> Membership:
    return Membership.objects.get(project=project, user=user)


def listed(project, user) -> list[int]:
    chosen = QueueFilter.from_query({"status": "accepted", "second": "1"})
    return [line.edge.pk for line in selectors.lines(project, chosen, user).lines]


def held(project) -> list[str]:
    return [reason for reason, _detail in held_of(project)]


def accept(edge, user) -> None:
    decide_edges(edge.project, [edge.pk], Verb.ACCEPT, user)


def test_an_accepted_link_waits_until_somebody_else_approves_it(project, edge, editor, manager):
    accept(edge, editor)
    assert listed(project, manager) == [edge.pk]
    assert held(project) == [Held.SECOND]
    decision = second_person.approve(of(project, manager), edge.pk, manager, "checked")
    edge.refresh_from_db()
    assert (edge.status, edge.waits, edge.second_by) == ("accepted", False, manager)
    assert (decision.verb, decision.note, decision.status_after) == (Verb.APPROVE, "checked", "accepted")
    assert (held(project), listed(project, manager)) == ([], [])
    with pytest.raises(NotTheSecond, match="does not wait"):
        second_person.approve(of(project, manager), edge.pk, manager)


def test_nobody_approves_their_own_and_only_managers_and_experts_of_both_pages_do(project, edge, editor, manager):
    accept(edge, manager)
    with pytest.raises(NotTheSecond, match="somebody else"):
        second_person.approve(of(project, manager), edge.pk, manager)
    with pytest.raises(NotTheSecond, match="manager, or an expert"):
        second_person.approve(of(project, editor), edge.pk, editor)
    expert, section = make_member(project, "expert"), make_category(project, "Tents")
    ExpertSection.objects.create(membership=of(project, expert), category=section)
    project.pages.filter(pk=edge.source_id).update(category=section)
    with pytest.raises(NotTheSecond, match="manager, or an expert"):
        second_person.approve(of(project, expert), edge.pk, expert)
    project.pages.filter(pk=edge.target_id).update(category=section)
    second_person.approve(of(project, expert), edge.pk, expert)
    assert held(project) == []


@pytest.mark.nightly
def test_a_rejection_by_the_second_person_and_its_undo_leave_the_link_waiting(project, edge, editor, manager):
    accept(edge, editor)
    second_person.reject(of(project, manager), edge.pk, manager, "not here")
    edge.refresh_from_db()
    assert (edge.status, edge.waits) == ("rejected", False)
    undo(project, manager)
    edge.refresh_from_db()
    assert (edge.status, edge.waits) == ("accepted", True)
    second_person.approve(of(project, manager), edge.pk, manager)
    undo(project, manager)
    edge.refresh_from_db()
    assert (edge.status, edge.waits, edge.second_by) == ("accepted", True, None)
    assert held(project) == [Held.SECOND]
    undo(project, editor)
    edge.refresh_from_db()
    assert (edge.status, edge.waits) == ("suggested", False)


def test_a_bulk_accept_and_a_tier_that_leaves_unreviewed_pass_no_gate(project, edge, editor):
    other = make_edge(project, make_page(project, clicks=500))
    lenient_tiers(project)
    assert held(project) == [Held.SECOND, Held.SECOND]
    decide_edges(project, [edge.pk, other.pk], Verb.ACCEPT, editor)
    assert held(project) == [Held.SECOND, Held.SECOND]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["category", "safety_class"])
def test_a_gate_that_comes_later_stops_what_was_accepted_before_and_lets_it_go_when_it_ends(
    project, editor, manager, redis_server, kind
):
    section = make_category(project, "Law")
    edge = make_edge(project, make_page(project), make_page(project, "/law", category=section))
    accept(edge, editor)
    assert held(project) == []
    value = SafetyClass.objects.create(project=project, name="Law", url_pattern="/law$")
    gate = Gate(project=project, **{kind: section if kind == "category" else value})
    add_gate(gate, manager)
    assert held(project) == [Held.SECOND]
    applied(project)
    assert listed(project, manager) == [edge.pk]
    end_gate(project, gate.pk, manager)
    assert applied(project).waiting == 0
    assert (held(project), listed(project, manager)) == ([], [])


def applied(project):
    project.runs.filter(kind=RunKind.SAFETY).update(status="succeeded")
    return run_apply_safety(make_run(project, RunKind.SAFETY))


@pytest.mark.nightly
def test_the_second_person_decides_by_form_and_goes_on_to_the_next(project, edge, editor, manager, client_for):
    other = make_edge(project, edge.source, score=0.8)
    for one in (edge, other):
        accept(one, editor)
    own, client = client_for(editor), client_for(manager)
    assert "needs a manager" in own.get(f"/p/shop/queue/{edge.pk}/").content.decode()
    assert 'value="approve"' in client.get(f"/p/shop/queue/{edge.pk}/").content.decode()
    own.post(f"/p/shop/queue/{edge.pk}/second/", {"do": "approve"})
    assert not Decision.objects.filter(verb=Verb.APPROVE).exists()
    assert client.post(f"/p/shop/queue/{edge.pk}/second/", {"do": "nothing"}).status_code == 400
    done = client.post(f"/p/shop/queue/{edge.pk}/second/", {"do": "approve", "query": "second=1"})
    assert done.url == f"/p/shop/queue/{other.pk}/?second=1"
    client.post(f"/p/shop/queue/{other.pk}/second/", {"do": "reject"})
    assert list(Decision.objects.order_by("pk").values_list("verb", flat=True))[-2:] == ["approve", "reject"]


@pytest.mark.nightly
def test_a_manager_makes_and_ends_gates_by_form(project, client_for, manager, redis_server):
    client, page = client_for(manager), "/p/shop/settings/safety/"
    assert client.post(f"{page}gate/", {}).status_code == 422
    assert client.post(f"{page}gate/", {"gate-min_clicks": "0"}).status_code == 422
    assert client.post(f"{page}gate/", {"gate-min_clicks": "1000"}).status_code == 302
    assert client.post(f"{page}gate/", {"gate-min_clicks": "1000"}).status_code == 422
    assert "Pages with 1,000 clicks or more" in client.get(page).content.decode()
    client.post(f"{page}gate/{Gate.objects.get().pk}/end/")
    assert Gate.objects.get().ended_at is not None
    said = Change.objects.filter(kind="gates").order_by("pk")
    assert [(one.user, one.subject) for one in said] == [(manager, "pages with 1,000 clicks or more")] * 2


@pytest.mark.nightly
def test_before_a_gate_is_saved_its_links_are_counted_and_saving_it_makes_that_come_true(
    project, editor, manager, redis_server, client_for
):
    section, loud = make_category(project, "Law", "Inheritance"), make_page(project, "/loud", clicks=100)
    quiet = [make_page(project, f"/law/{n}", category=section, clicks=n) for n in range(3)]
    lists = PageList.objects.create(
        project=project, name="l", pages=np.array([quiet[1].pk], "<i8").tobytes(), size=1, lines=1
    )
    named = SafetyClass.objects.create(project=project, name="Law", url_pattern="/law/[01]$")
    add_gate(Gate(project=project, min_clicks=100), manager)
    far = [make_page(project) for _ in range(4)]
    pairs = [(loud, quiet[0]), (quiet[0], quiet[1]), (quiet[1], far[0]), (far[1], quiet[2]), (far[2], far[3])]
    links = [make_edge(project, *pair) for pair in (*pairs, (quiet[2], quiet[0]))]
    decide_edges(project, [one.pk for one in links[:4]], Verb.ACCEPT, editor)
    client, page = client_for(manager), "/p/shop/settings/safety/"
    for values, accepted, still_open, waiting in [
        ({"category": make_category(project, "Law")}, 3, 1, 1),
        ({"page_list": lists}, 2, 0, 0),
        ({"safety_class": named}, 2, 1, 1),
        ({"min_clicks": 2}, 1, 1, 1),
    ]:
        gate = Gate(project=project, **values)
        effect = effect_of(gate)
        assert (effect.accepted.number, effect.open.number, effect.waiting.number) == (accepted, still_open, waiting)
        assert (len(effect.examples), effect.is_more) == (accepted + still_open + waiting, False)
        [(name, value)] = values.items()
        sent = {f"gate-{name}": getattr(value, "pk", value)}
        shown = client.post(f"{page}gate/", {**sent, "check": "1"}).content.decode()
        assert f"wait for a second person: <strong>{accepted}</strong>" in shown
        assert Gate.objects.filter(ended_at=None).count() == 1
        before = applied(project).waiting
        client.post(f"{page}gate/", sent)
        assert applied(project).waiting == before + accepted
        client.post(f"{page}gate/{Gate.objects.latest('pk').pk}/end/")
        assert applied(project).waiting == before


def test_what_a_gate_would_hold_takes_as_many_queries_however_many_links_there_are(project, monkeypatch):
    law = make_category(project, "Law")
    page = make_page(project, category=law)
    make_edge(project, page)
    make_edge(project, page, status="accepted")
    with CaptureQueriesContext(connection) as few:
        effect_of(Gate(project=project, category=law))
    for _ in range(15):
        make_edge(project, make_page(project, category=law), status="accepted")
    monkeypatch.setattr(rule_preview, "MOST", 12)
    with CaptureQueriesContext(connection) as many:
        effect = effect_of(Gate(project=project, category=law))
    assert (effect.accepted.number, effect.open.number, len(effect.examples), effect.is_more) == (12, 1, 10, True)
    assert len(many) == len(few)


def test_a_gate_that_was_made_or_removed_can_be_taken_back_until_something_else_changes(
    project, manager, redis_server, client_for
):
    client, page = client_for(manager), "/p/shop/settings/safety/"
    client.post(f"{page}gate/", {"gate-min_clicks": "1000"})
    client.post(*undo_form(client.get(page).content.decode()))
    assert not Gate.objects.filter(ended_at=None).exists()
    client.post(*undo_form(client.get(page).content.decode()))
    assert Gate.objects.get(ended_at=None).min_clicks == 1000
    client.post(f"{page}class/", {"class-name": "Law", "class-url_pattern": "/law/"})
    action, _ = undo_form(client.get(page).content.decode())
    assert "/class/" in action


def test_a_class_that_somebody_removed_meanwhile_is_not_made_anew_unasked(project, manager, redis_server, client_for):
    client, page = client_for(manager), "/p/shop/settings/safety/class/"
    sent = {"class-name": "Law", "class-url_pattern": "/law/"}
    client.post(page, sent)
    one = SafetyClass.objects.get()
    end_class(project, one.pk, manager)
    answer = client.post(page, {**sent, "class": one.pk})
    assert answer.status_code == 422
    assert "has been removed meanwhile" in answer.content.decode()
    assert SafetyClass.objects.filter(ended_at=None).count() == 0


def test_a_class_whose_links_need_a_second_person_is_not_removed_and_its_change_reaches_the_links(
    project, editor, manager, redis_server
):
    one = SafetyClass.objects.create(project=project, name="Law", url_pattern="/law$")
    edge = make_edge(project, make_page(project), make_page(project, "/medicine"))
    accept(edge, editor)
    add_gate(Gate(project=project, safety_class=one), manager)
    assert applied(project).waiting == 0
    with pytest.raises(UserError, match="need a second person"):
        end_class(project, one.pk, manager)
    one.url_pattern = "/medicine$"
    save_class(one, manager)
    assert project.runs.filter(kind=RunKind.SAFETY, status="queued").exists()
    assert applied(project).waiting == 1


def test_the_second_person_sees_the_words_and_what_was_overruled(project, edge, editor, manager, client_for):
    edge.placement, edge.anchor = "related", "Zebra kettle"
    edge.save()
    accept(edge, editor)
    edge.refresh_from_db()
    overruled = [{"code": "words", "text": "None of these words is on the page."}]
    write_decisions([with_outcome(decision_on(edge, Verb.ACCEPT, editor, overruled=overruled))])
    client = client_for(manager)

    before = compact(client.get(f"/p/shop/queue/{edge.pk}/").content.decode())
    second_person.approve(of(project, manager), edge.pk, manager)
    after = compact(client.get(f"/p/shop/queue/{edge.pk}/").content.decode())

    for page in (before, after):
        assert "Words of the link: “<b><bdi>Zebra kettle</bdi></b>”" in page
        assert "None of these words is on the page." in page
        assert f"Accepted by {editor}" in page
    assert f"Approved as the second person by {manager}" in after


def test_the_file_names_who_accepted_and_who_approved(project, edge, editor, manager):
    accept(edge, editor)
    second_person.approve(of(project, manager), edge.pk, manager)

    [row] = rows_of(project)

    assert (row["decided_by"], row["approved_by"]) == (str(editor), str(manager))


@pytest.mark.nightly
def test_the_list_says_which_of_its_links_the_reader_may_approve(project, gate, editor, client_for):
    section = make_category(project, "Tents")
    expert = make_member(project, "expert")
    ExpertSection.objects.create(membership=of(project, expert), category=section)
    inside = [make_page(project, category=section, clicks=100) for _ in range(2)]
    may, own = (make_edge(project, *pages) for pages in (inside, inside[::-1]))
    far = make_edge(project, make_page(project, clicks=100), inside[0])
    accept(may, editor)
    accept(far, editor)
    accept(own, expert)
    address = "/p/shop/queue/?status=accepted&second=1"
    page = client_for(expert).get(address).content.decode()
    lines = {pk: compact(page.split(f'id="edge-{pk}"')[1].split("</li>")[0]) for pk in (may.pk, far.pk, own.pk)}
    assert "Look and approve" in lines[may.pk]
    assert "Look and approve" not in lines[far.pk] + lines[own.pk]
    assert "This link needs a manager, or an expert" in lines[far.pk]
    assert "You accepted this link yourself" in lines[own.pk]
    with CaptureQueriesContext(connection) as few:
        client_for(expert).get(address)
    for one in [make_edge(project, make_page(project, clicks=100)) for _ in range(5)]:
        accept(one, editor)
    with CaptureQueriesContext(connection) as many:
        client_for(expert).get(address)
    assert len(many) == len(few)
