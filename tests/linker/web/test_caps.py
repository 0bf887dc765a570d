"""The page of caps: set, looked at first, taken back; in the log; for managers."""

from __future__ import annotations

import pytest

from linker.models import Change, ChangeKind, RunKind, SectionCap
from tests.factories import make_category, make_edge, make_link, make_page, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/settings/caps/"


def fields(**given):
    return {"category": "", "inline_in_all": "", "related_in_all": "", "per_1000_words": "", **given}


@pytest.fixture
def section(project):
    return make_category(project, "Magazine")


@pytest.mark.nightly
def test_caps_of_a_section_are_saved_logged_applied_and_taken_back(client_for, manager, project, section, redis_server):
    make_edge(project)
    client = client_for(manager)
    client.post(PAGE, fields(category=section.pk, inline_in_all=4))
    client.post(PAGE, fields(category=section.pk, inline_in_all=6, per_1000_words=7))
    cap = SectionCap.objects.get(ended_at=None)
    assert (cap.category, cap.inline_in_all, cap.related_in_all, cap.per_1000_words) == (section, 6, None, 7)
    assert SectionCap.objects.count() == 2
    change = Change.objects.filter(kind=ChangeKind.CAPS).first()
    assert (change.subject, change.user) == ("Magazine", manager)
    assert (change.before, change.after) == (
        {"inline_in_all": 4, "per_1000_words": None},
        {"inline_in_all": 6, "per_1000_words": 7},
    )
    assert project.runs.filter(kind=RunKind.CAPS).exists()
    page = compact(client.get(PAGE).text)
    assert "Your last change here can be taken back." in page
    client.post(PAGE, fields(category=section.pk, inline_in_all=4))  # what “Undo” sends
    assert SectionCap.objects.get(ended_at=None).inline_in_all == 4
    client.post(f"{PAGE}{SectionCap.objects.get(ended_at=None).pk}/end/")
    assert not SectionCap.objects.filter(ended_at=None).exists()
    assert "No caps of sections" in client.get(PAGE).text


def test_the_preview_counts_what_would_leave_and_come_back_and_saves_nothing(client_for, manager, project, section):
    run = make_run(project, params={"related_in_all": 3})
    donor = make_page(project, category=make_category(project, "Magazine", "Tips"), title="Camping")
    make_link(donor, make_page(project))
    make_page(project)
    donor.outlinks = 1
    donor.save()
    text = [make_edge(project, donor, run=run, placement="inline", anchor=f"in the text {n}") for n in range(2)]
    make_edge(project, donor, run=run, placement="inline", status="accepted", anchor="the better", score=0.9)
    make_edge(project, donor, run=run, placement="inline", status="accepted", anchor="the worse", score=0.5)
    make_edge(project, run=run, placement="inline", anchor="elsewhere")
    page = compact(client_for(manager).post(PAGE, fields(category=section.pk, inline_in_all=2, check=1)).text)
    for label, number in (
        ("Donors that would become full", 1),
        ("Open suggestions that would leave the text, for the block beside it where that has room", len(text)),
        ("Open suggestions beside the text that would leave, with those held back", 0),
        ("Suggestions that would come back", 0),
        ("Accepted links that the next release would hold back", 1),
    ):
        assert f"<li>{label}: <strong>{number}</strong></li>" in page
    assert "the worse" in page
    assert "in the text 1" in page
    assert "the better" not in page
    assert "elsewhere" not in page
    assert not SectionCap.objects.exists()


def test_the_preview_knows_what_would_come_back(client_for, manager, project, section):
    SectionCap.objects.create(project=project, category=section, related_in_all=0, inline_in_all=0)
    edge = make_edge(project, make_page(project, category=section), placement="related", stale=True)
    project.edges.filter(pk=edge.pk).update(capped_at="2026-01-01T00:00Z")
    page = compact(client_for(manager).post(PAGE, fields(category=section.pk, related_in_all=5, check=1)).text)
    assert "<li>Suggestions that would come back: <strong>1</strong></li>" in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Fill in one number at least"),
        ({"inline_in_all": "-1"}, "greater than or equal to 0"),
        ({"inline_in_all": "10001"}, "less than or equal to 10000"),
        ({"category": "999999", "inline_in_all": "4"}, "Select a valid choice"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_saved(client_for, manager, project, given, said):
    answer = client_for(manager).post(PAGE, fields(**given))
    assert answer.status_code == 422
    assert said in answer.text
    assert not SectionCap.objects.exists()


def test_a_category_of_another_project_is_no_choice(client_for, manager, project, other_category):
    assert client_for(manager).post(PAGE, fields(category=other_category.pk, inline_in_all=4)).status_code == 422


@pytest.fixture
def other_category(db):
    from tests.factories import make_project

    return make_category(make_project("other"), "Theirs")


def test_editors_and_outsiders_have_no_such_page(client_for, editor, outsider, project):
    assert client_for(editor).get(PAGE).status_code == 403
    assert client_for(outsider).get(PAGE).status_code == 404


def test_more_sections_than_the_most_are_refused(client_for, manager, project, section, monkeypatch):
    monkeypatch.setattr("linker.projects.policies.caps.MOST_CAPS", 1)
    client = client_for(manager)
    client.post(PAGE, fields(inline_in_all=4))
    answer = client.post(PAGE, fields(category=section.pk, inline_in_all=4))
    assert answer.status_code == 422
    assert "At most 1 sections have caps" in answer.text
