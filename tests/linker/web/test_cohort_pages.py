"""A manager gives some links bounds of their own in the browser: looks first, saves, and takes it back."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.engine.params import Ranking
from linker.models import Cohort, CohortBound, RunKind
from linker.models.querysets import OPEN
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.tiers import change_tiers, keep_bounds
from linker.reports.tier_notice import tier_notice
from tests.factories import make_category, make_edge, make_member, make_page, make_project, make_run

pytestmark = pytest.mark.django_db

TAB = "/p/shop/settings/tiers/"
ADDRESS = f"{TAB}own/?basis=probability"


@pytest.fixture(autouse=True)
def forget() -> None:
    cache.clear()


def some_edges(project, number: int, **fields) -> None:
    run, target = make_run(project), make_page(project, role="product")
    for place in range(number):
        donor = make_page(project, **fields)
        make_edge(
            project, donor, target, run=run, probability=(place + 0.5) / number, similarity=0.5, ranked_by="learned"
        )


def tier_ids(project) -> list[int]:
    return list(project.tiers.filter(basis="probability").order_by("-lower_bound").values_list("pk", flat=True))


def fields_of(project, *lower: str, **more: str) -> dict[str, str]:
    return {f"{pk}-lower_bound": one for pk, one in zip(tier_ids(project), lower, strict=True)} | more


def said(response) -> str:
    return " ".join(unescape(response.content.decode()).split())


def undo_form(page: str) -> tuple[str, dict[str, str]]:
    form = re.search(r'<form class="notice undo" method="post" action="([^"]*)">(.*?)</form>', page, re.S)
    assert form is not None, "there is nothing to undo"
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form[2])
    return unescape(form[1]), {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


def bounds_now() -> list[tuple[str, float]]:
    return list(CohortBound.objects.order_by("-lower_bound").values_list("tier__name", "lower_bound"))


@pytest.mark.nightly
def test_bounds_are_looked_at_saved_listed_changed_and_taken_back(project, manager, client_for):
    category = make_category(project, "Gear", "Tents")
    some_edges(project, 10, category=category)
    change_tiers(project, [], basis="probability")
    client, address = client_for(manager), f"{ADDRESS}&category={category.parent_id}"
    page = said(client.get(address))
    assert "Bounds of links from Gear" in page
    assert "Above the line: the 10 open suggestions" in page
    form = fields_of(project, "0.5", "0.2", "")
    fragment = said(client.post(address, form | {"check": "1"}, headers={"HX-Request": "true"}))
    assert fragment.startswith('<div id="tier-effect"')
    assert not Cohort.objects.exists(), "nothing is saved yet"
    page = client.post(address, form, follow=True)
    assert bounds_now() == [("Likely", 0.5), ("Related", 0.2)]
    assert project.edges.filter(OPEN, tier__name="Likely").count() == 5
    assert project.edges.filter(OPEN, tier=None).count() == 2
    assert "from Gear" in said(page)
    assert "not used" in said(page)
    page = client.post(*undo_form(page.content.decode()), follow=True)
    assert not Cohort.objects.exists()
    client.post(*undo_form(page.content.decode()), follow=True)
    assert bounds_now() == [("Likely", 0.5), ("Related", 0.2)], "and back again"


@pytest.mark.nightly
def test_what_removing_would_do_is_said_first_and_the_removal_can_be_undone(project, manager, client_for):
    some_edges(project, 10)
    client, address = client_for(manager), f"{ADDRESS}&role=product"
    client.post(address, fields_of(project, "", "0.5", ""))
    page = said(client.post(address, {"without": "1"}))
    assert "if these links had no bounds of their own" in page
    assert "Remove these bounds" in page
    assert bounds_now() == [("Related", 0.5)]
    page = client.post(address, {"remove": "1"}, follow=True).content.decode()
    assert not Cohort.objects.exists()
    assert "had no bounds of their own any more" in said(client.post(address, {"remove": "1"}, follow=True))
    client.post(*undo_form(page))
    assert bounds_now() == [("Related", 0.5)]


@pytest.mark.parametrize(
    ("lower", "problem"),
    [
        (("", "", ""), "Say where one tier begins at least"),
        (("0.5", "0.5", ""), "Two tiers start at 0.5: they must differ."),
        (("1.5", "0.5", ""), "less than or equal to 1.0"),
        (("-0.5", "0.5", ""), "greater than or equal to 0.0"),
        (("high", "0.5", ""), "Enter a number."),
    ],
)
def test_wrong_bounds_are_answered_and_nothing_is_saved(project, manager, client_for, lower, problem):
    answer = client_for(manager).post(f"{ADDRESS}&role=hub", fields_of(project, *lower))
    assert answer.status_code == 422
    assert problem in said(answer)
    assert not Cohort.objects.exists()


@pytest.mark.parametrize("asked", ["", "&role=nobody", "&category=x", "&category=999999", "&role=hub&category=1"])
def test_an_address_that_names_no_links_leads_back_to_the_tiers(project, manager, client_for, asked):
    answer = client_for(manager).get(ADDRESS + asked, follow=True)
    assert answer.redirect_chain[-1][0] == TAB
    assert "Choose a category or a role: one of the two." in said(answer)


def test_a_category_of_another_project_is_none(project, manager, client_for):
    foreign = make_category(make_project("other"), "Gear")
    answer = client_for(manager).post(f"{ADDRESS}&category={foreign.pk}", fields_of(project, "0.5", "", ""))
    assert answer.status_code == 302
    assert not Cohort.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_who_is_no_manager_sees_and_changes_nothing(project, client_for, role):
    outsider = make_member(make_project("other"), "manager")
    for user, status in ((make_member(project, role), 403), (outsider, 404)):
        client = client_for(user)
        assert client.get(f"{ADDRESS}&role=hub").status_code == status
        assert client.post(f"{ADDRESS}&role=hub", fields_of(project, "0.5", "", "")).status_code == status
    assert not Cohort.objects.exists()


@pytest.mark.nightly
def test_the_page_asks_as_much_for_many_suggestions_as_for_few(project, manager, client_for):
    client, address = client_for(manager), f"{ADDRESS}&role=product"
    form = fields_of(project, "0.5", "0.2", "") | {"check": "1"}

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.post(address, form).status_code == 200
        return len(queries)

    some_edges(project, 3)
    asked()
    cache.clear()
    few = asked()
    some_edges(project, 40)
    cache.clear()
    assert asked() == few
    assert asked() < few, "what was counted is remembered"


@pytest.mark.nightly
def test_another_ranking_asks_for_these_bounds_too_until_they_are_looked_at(project, manager):
    def finished(ranking: str):
        report = {"ranking": ranking, "basis": "probability"}
        run = make_run(project, report=report, params={"ranking": ranking})
        run.finished_at = run.created_at
        run.save()
        return run

    first = finished(Ranking.FORMULA)
    name = CohortName("probability", role="product")
    set_bounds(project, name, {tier_ids(project)[0]: 0.5}, manager)
    change_tiers(project, [], basis="probability")
    assert tier_notice(project) is None
    run = finished(Ranking.LEARNED)
    assert tier_notice(project).of_project
    change_tiers(project, [], basis="probability")
    notice = tier_notice(project)
    assert (notice.run, notice.before, notice.of_project) == (run, first, False)
    assert [one.said for one in notice.cohorts] == ["to pages with the role “Product”"]
    set_bounds(project, name, {tier_ids(project)[0]: 0.5}, manager)
    assert tier_notice(project) is None, "saved again, though as they were"
    other = finished(Ranking.FORMULA)
    keep_bounds(project, other, run, manager)
    assert tier_notice(project) is None
    assert project.runs.filter(kind=RunKind.RETIER).exists()
