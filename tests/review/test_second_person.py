"""Links of pages that have a gate leave only when somebody else has approved them."""

from __future__ import annotations

import pytest

from linker.matching.safety_run import run_apply_safety
from linker.models import Change, ExpertSection, Gate, Membership, RunKind, SafetyClass
from linker.projects.policies.gates import add_gate, end_gate
from review import second_person
from review.decisions import decide_edges
from review.models import Decision, Held, Verb
from review.queue import selectors
from review.queue.filters import QueueFilter
from review.second_person import NotTheSecond
from review.undoing import undo
from tests.factories import lenient_tiers, make_category, make_edge, make_member, make_page, make_run
from tests.review.test_checks import held_of

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
