"""Audits: what is drawn, who is given it, what is said of it, and what comes of that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from linker.models import EdgeStatus, Run, RunKind, RunStatus
from review.client_report import audit_rates
from review.decisions import decide_edges
from review.models import Decision, Drawn, Grade, Judgement, Operation, Sample, SampleLink, Verb
from review.quality import audits, judging, start
from review.quality.rates import rates
from review.releases.create import create_release
from review.rulings import Ruling
from review.undoing import undo
from tests.factories import lenient_tiers, make_category, make_edge, make_member, make_page, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db
AGO = timedelta(days=90)


@pytest.fixture
def bea(project):
    return make_member(project, username="bea")


def accepted(project, user, number: int = 1) -> list:
    edges = [make_edge(project, score=0.9, probability=0.8) for _ in range(number)]
    decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, user)
    return edges


def audit(project, **params) -> Sample:
    run = make_run(project, RunKind.AUDIT, params=params)
    audits.run_audit(run)
    return Sample.objects.get(run=run)


def judge_all(project, user, *grades: Grade) -> list[Judgement]:
    return [judging.judge(project, user, judging.waiting_for(project, user)[0].pk, grade) for grade in grades]


def test_what_one_person_approved_goes_to_another(project, ada, bea):
    own, others = accepted(project, ada, 3), accepted(project, bea, 2)
    sample = audit(project)
    given = dict(sample.links.values_list("edge", "reader"))
    assert given == {edge.pk: bea.pk for edge in own} | {edge.pk: ada.pk for edge in others}
    assert {link.decided_by for link in sample.links.filter(reader=bea)} == {ada}


def test_editors_judge_in_turn_and_a_manager_only_where_no_editor_is_left(project, ada, manager):
    accepted(project, ada, 4)
    audit(project)
    assert set(SampleLink.objects.values_list("reader", flat=True)) == {manager.pk}
    bea, cleo = make_member(project, username="bea"), make_member(project, username="cleo")
    accepted(project, ada, 4)
    sample = audit(project)
    assert sorted(sample.links.filter(reader=one).count() for one in (bea, cleo)) == [2, 3]
    [twice] = sample.links.filter(turn=1)
    assert {link.reader for link in sample.links.filter(edge=twice.edge)} == {bea, cleo}


def test_where_nobody_else_is_there_it_is_said_and_a_newcomer_gets_the_links(project, ada, client_for, manager):
    accepted(project, manager, 1)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, ada)
    project.memberships.filter(user=ada).update(role="viewer")
    run = make_run(project, RunKind.AUDIT)
    assert audits.run_audit(run).for_nobody == 1
    assert "1 link was given to nobody" in compact(client_for(manager).get("/p/shop/quality/").content.decode())
    bea = make_member(project, username="bea")
    assert judging.waiting_for(project, bea).count() == 1


def test_links_of_a_judge_who_left_or_has_decided_are_with_nobody(project, ada, bea):
    accepted(project, ada, 3)
    audit(project)
    assert judging.waiting_by_reader(project) == [("bea", 3)]
    taken_back, *_ = undo(project, ada).decided
    decide_edges(project, [taken_back.edge_id], Verb.REJECT, bea, Ruling(reason="irrelevant"))
    assert judging.waiting_by_reader(project) == [("bea", 2), ("", 1)]
    project.memberships.filter(user=bea).delete()
    assert judging.waiting_by_reader(project) == [("", 3)]
    cleo = make_member(project, username="cleo")
    assert judging.waiting_for(project, cleo).count() == 3


@pytest.mark.nightly
def test_the_draw_is_made_again_from_its_seed_and_a_run_that_runs_twice_draws_once(project, ada, monkeypatch):
    accepted(project, ada, 12)
    monkeypatch.setattr(audits, "OF_EACH", 5)
    sample = audit(project, seed=7)
    drawn = list(sample.links.filter(turn=0).order_by("place").values_list("edge", flat=True))
    assert len(drawn) == 5
    assert [one.edge for one in audits.drawn_links(sample)] == drawn
    sample.seed = 8
    assert [one.edge for one in audits.drawn_links(sample)] != drawn
    audits.run_audit(sample.run)
    assert Sample.objects.count() == 1
    assert sample.links.filter(turn=0).count() == 5


def test_links_that_left_unreviewed_are_drawn_too_and_what_an_audit_had_is_not_drawn_again(project, ada, bea):
    lenient_tiers(project)
    [edge] = accepted(project, ada)
    unread = make_edge(project, score=0.9)
    create_release(project, project.edges.all())
    sample = audit(project)
    assert set(sample.links.values_list("edge", "drawn_from")) == {
        (edge.pk, Drawn.APPROVED), (unread.pk, Drawn.UNREVIEWED)
    }  # fmt: skip
    assert audits.drawn_links(Sample(project=project, seed=1, since=sample.until, until=timezone.now())) == []


def test_what_was_taken_back_or_rejected_since_is_not_drawn(project, ada, bea):
    accepted(project, ada)
    undo(project, ada)
    decide_edges(project, [make_edge(project).pk], Verb.REJECT, ada)
    assert not audit(project).links.exists()


@pytest.mark.nightly
def test_a_judge_sees_an_open_suggestion_and_no_decision(project, ada, bea, client_for):
    decide_edges(project, [make_edge(project, anchor="warm socks").pk], Verb.ACCEPT, ada)
    audit(project)
    page = client_for(bea).get("/p/shop/quality/judge/").content.decode()
    assert "warm socks" in page
    assert not [word for word in ("ada", "Accepted", "badge--accepted") if word in page]
    card = judging.card_of(SampleLink.objects.get())
    assert (card.edge.status, card.decision, card.comments, card.signs) == (EdgeStatus.SUGGESTED, None, (), [])
    assert "edge__figure" not in page


def test_what_is_said_is_kept_changes_nothing_of_the_link_and_can_be_taken_back(project, ada, bea, client_for):
    [edge] = accepted(project, ada)
    audit(project)
    client, link = client_for(bea), SampleLink.objects.get()
    said = {"link": link.pk, "grade": "bad", "reason": "irrelevant", "note": "not about socks"}
    client.post("/p/shop/quality/judge/say/", said)
    judgement = Judgement.objects.get()
    assert (judgement.judge, judgement.grade, judgement.note) == (bea, Grade.BAD, "not about socks")
    edge.refresh_from_db()
    assert edge.status == EdgeStatus.ACCEPTED
    again = client.post("/p/shop/quality/judge/say/", said, follow=True)
    assert "Nothing was saved" in again.content.decode()
    client.post(f"/p/shop/quality/judge/{judgement.pk}/undo/")
    link.refresh_from_db()
    assert link.grade == ""
    assert Judgement.objects.get(grade="undo").undoes == judgement
    assert not judging.take_back(project, bea, judgement.pk)
    assert judging.waiting_for(project, bea).get() == link


def test_nobody_judges_what_is_another_persons_or_their_own(project, ada, bea, client_for, outsider):
    accepted(project, ada)
    audit(project)
    link = SampleLink.objects.get()
    for user in (ada, make_member(project, username="cleo")):
        client_for(user).post("/p/shop/quality/judge/say/", {"link": link.pk, "grade": "bad"})
    assert client_for(outsider).post("/p/shop/quality/judge/say/", {"link": link.pk, "grade": "bad"}).status_code == 404
    assert not Judgement.objects.exists()


@pytest.mark.nightly
def test_a_bad_link_is_rejected_or_withdrawn_in_one_step(project, ada, bea, client_for, manager):
    accepted(project, ada)
    create_release(project, project.edges.all())
    accepted(project, ada)
    audit(project)
    judge_all(project, bea, Grade.BAD, Grade.BAD)
    client = client_for(manager)
    page = compact(client.get("/p/shop/quality/").content.decode())
    assert "Judged bad, and still approved" in page
    for link in SampleLink.objects.filter(turn=0):
        client.post(f"/p/shop/quality/links/{link.pk}/put-right/", {"from": "quality"})
    out, not_out = project.edges.order_by("pk")
    assert out.pending.operation == Operation.REMOVE
    assert not_out.status == EdgeStatus.REJECTED
    assert "still approved" not in client.get("/p/shop/quality/").content.decode()
    assert Decision.objects.filter(verb=Verb.REJECT, user=manager, note="Judged bad in an audit.").count() == 1


def test_rates_count_each_link_once_with_its_interval_and_two_judges_give_kappa(project, ada, bea):
    cleo = make_member(project, username="cleo")
    tips = make_category(project, "Tips", "Feet")
    for section in (tips, None):
        edge = make_edge(project, make_page(project, category=section), probability=0.85, score=0.9)
        decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    audit(project, seed=3)
    [twice] = SampleLink.objects.filter(turn=1)
    for link in SampleLink.objects.all():
        is_bad = link.edge_id == twice.edge_id and link.reader == cleo
        judging.judge(project, link.reader, link.pk, Grade.BAD if is_bad else Grade.GOOD)
    found = rates(project, timezone.now() - AGO)
    assert (found.whole.links, found.whole.good, found.whole.bad) == (2, 1.5, 0.5)
    assert found.whole.low < found.whole.share == 0.25 < found.whole.high
    by = {title: {rate.name: rate.links for rate in rows} for title, rows in found.tables}
    assert by["By section"] == {"Tips": 1, "No category": 1}
    assert by["By stated probability"] == {"80 to 90%": 2}
    assert by["By who approved it"] == {"ada": 2}
    assert (found.kappa.pairs, found.kappa.agreed) == (1, 0)
    [told] = audit_rates(project)
    assert (told.label, told.good, told.looked_at) == ("Approved by a person", 2, 2)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_audit_starts_by_itself_once_a_week_and_a_look_for_alerts_once_a_day(project, ada, bea, run_jobs):
    assert start.start_due() == []
    accepted(project, ada)
    run, look = start.start_due()
    run_jobs()
    run.refresh_from_db()
    look.refresh_from_db()
    assert (run.kind, run.status) == (RunKind.AUDIT, RunStatus.SUCCEEDED)
    assert (look.kind, look.status) == (RunKind.ALERTS, RunStatus.SUCCEEDED)
    assert start.start_due() == []
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=8))
    assert [run.kind for run in start.start_due()] == [RunKind.AUDIT]


@pytest.mark.nightly
def test_the_pages_ask_no_more_with_more_links(project, ada, bea, client_for, manager, django_assert_max_num_queries):
    accepted(project, ada, 12)
    audit(project)
    judge_all(project, bea, *[Grade.BAD] * 8)
    overview, judging_page = client_for(manager), client_for(bea)
    with django_assert_max_num_queries(12):
        overview.get("/p/shop/quality/")
    with django_assert_max_num_queries(26):  # 25 and which link it would replace
        judging_page.get("/p/shop/quality/judge/")


@pytest.mark.nightly
def test_the_list_of_audits_says_how_many_links_each_drew(project, ada, client_for, manager):
    """A link that two people judge was drawn once."""
    make_member(project, username="bea")
    make_member(project, username="cleo")
    drawn = []
    for number in (5, 3):
        accepted(project, ada, number)
        sample = audit(project)
        assert sample.links.filter(turn=1).exists()
        drawn.append(sample.links.values("edge").distinct().count())
    assert [one.drawn for one in judging.audits(project, 50)] == drawn[::-1]
    page = compact(client_for(manager).get("/p/shop/quality/").content.decode())
    assert [f'data-label="Links">{links}</td>' in page for links in drawn] == [True, True]
