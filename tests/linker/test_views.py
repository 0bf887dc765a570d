"""The pages around the queue: what they show, what they save, and what they refuse."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from linker import runs
from linker.models import (
    CandidateEdge,
    ExclusionRule,
    Membership,
    Project,
    Run,
    RunKind,
    SensitiveCategory,
    Tier,
)
from tests.factories import embed, make_category, make_edge, make_link, make_page, make_project, make_run, make_user

pytestmark = pytest.mark.django_db

HOSTILE = '"><script>alert(1)</script>'


def url(name: str, project: Project, *args) -> str:
    return reverse(name, args=[project.slug, *args])


@pytest.fixture
def full(project: Project) -> Project:
    """A project with pages, links, vectors, suggestions and a run, all with hostile titles."""
    category = make_category(project, HOSTILE, "Tents")
    first = make_page(project, "/a", title=HOSTILE, category=category, clicks=12, body="Some text\nand more")
    second = make_page(project, "/b", title=HOSTILE, indexable=False)
    embed(first, [1, 0, 0, 0])
    make_link(first, second, HOSTILE)
    make_edge(project, first, second, anchor=HOSTILE)
    make_run(project, report={"edges": 1, "tiers": {"Inline": 1}}, params={"levels_up": 2, "per_target": 0})
    return project


PAGES = ["project", "pages", "match", "runs", "settings", "settings_tiers", "settings_sensitive"]
PAGES += ["settings_exclusions", "settings_members", "import", "queue", "releases"]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_full_and_empty_and_escapes_what_crawls_bring(name, full, manager, client_for):
    response = client_for(manager).get(url(name, full))
    assert response.status_code == 200
    assert "<script>alert" not in response.content.decode()
    empty = make_project("empty")
    Membership.objects.create(project=empty, user=manager, role="manager")
    assert client_for(manager).get(url(name, empty)).status_code == 200


def test_a_page_and_a_run_show_their_rows(full, viewer, client_for):
    client = client_for(viewer)
    page = client.get(url("page", full, full.pages.get(url__endswith="/a").pk)).content.decode()
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    run = client.get(url("run", full, full.runs.first().pk)).content.decode()
    assert "Links proposed" in run
    assert "no cap" in run


@pytest.mark.parametrize("name", ["project", "pages", "runs", "projects"])
def test_lists_ask_as_many_questions_for_many_rows_as_for_few(
    name, project, viewer, client_for, django_assert_max_num_queries
):
    for number in range(3):
        make_edge(project, make_page(project, category=make_category(project, f"C{number}")))
    address = reverse("projects") if name == "projects" else url(name, project)
    client = client_for(viewer)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(address)
    for number in range(20):
        make_edge(project, make_page(project, category=make_category(project, f"D{number}")))
        make_run(project)
    with django_assert_max_num_queries(len(few)):
        client.get(address)


# -------------------------------------------------------------------------------------------------------- settings


def tier_form(project: Project, **changes: str) -> dict[str, str]:
    tiers = list(Tier.objects.filter(project=project).order_by("-lower_bound"))
    data = {"tiers-TOTAL_FORMS": str(len(tiers) + 1), "tiers-INITIAL_FORMS": str(len(tiers))}
    for number, tier in enumerate(tiers):
        values = {
            "id": tier.pk,
            "name": tier.name,
            "lower_bound": tier.lower_bound,
            "placement": tier.placement,
            "rel": tier.rel,
            "confirmed_rel": tier.confirmed_rel,
        }
        if tier.held:
            values["held"] = "on"
        data |= {f"tiers-{number}-{key}": str(value) for key, value in values.items()}
    blank = {"name": "", "lower_bound": "", "placement": "related", "rel": "nofollow", "confirmed_rel": "follow"}
    data |= {f"tiers-{len(tiers)}-{key}": value for key, value in blank.items()}
    return data | changes


def test_moving_a_bound_moves_the_suggestions_and_is_written_down(project, manager, client_for):
    edge = make_edge(project, score=0.75)
    response = client_for(manager).post(
        url("settings_tiers", project), tier_form(project, **{"tiers-0-lower_bound": "0.7"}), follow=True
    )
    assert "Inline 0 → 1" in response.content.decode()
    edge.refresh_from_db()
    assert edge.tier.name == "Inline"
    record = Run.objects.get(project=project, kind=RunKind.RETIER)
    assert (record.created_by, record.status) == (manager, "succeeded")
    assert record.report["before"]["Related"] == 1
    assert record.report["after"]["Inline"] == 1
    assert record.params["after"]["Inline"].startswith("from 0.7")


def test_two_tiers_cannot_begin_at_the_same_score(project, manager, client_for):
    response = client_for(manager).post(
        url("settings_tiers", project), tier_form(project, **{"tiers-0-lower_bound": "0.65"})
    )
    assert response.status_code == 200
    assert "Nothing was saved" in response.content.decode()
    assert Tier.objects.get(project=project, name="Inline").lower_bound == 0.80


def test_a_tier_can_be_added_and_deleted(project, manager, client_for):
    client = client_for(manager)
    client.post(
        url("settings_tiers", project), tier_form(project, **{"tiers-3-name": "Top", "tiers-3-lower_bound": "0.95"})
    )
    assert Tier.objects.filter(project=project, name="Top").exists()
    edge = make_edge(project, score=0.97)
    assert edge.tier.name == "Top"
    client.post(url("settings_tiers", project), tier_form(project, **{"tiers-0-DELETE": "on"}))
    edge.refresh_from_db()
    assert edge.tier.name == "Inline"


def test_a_sensitive_subtree_marks_its_suggestions_at_once_and_can_be_taken_back(project, manager, client_for):
    category = make_category(project, "Health")
    edge = make_edge(project, None, make_page(project, category=category))
    client = client_for(manager)
    client.post(url("settings_sensitive", project), {"kind": "medical", "category": category.pk, "url_pattern": ""})
    edge.refresh_from_db()
    assert "medical (Health)" in edge.sensitive
    rule = SensitiveCategory.objects.get(project=project)
    client.post(url("sensitive_remove", project, rule.pk))
    edge.refresh_from_db()
    assert edge.sensitive == ""


@pytest.mark.parametrize(("name", "field"), [("settings_sensitive", "url_pattern"), ("settings_exclusions", "pattern")])
def test_a_pattern_that_cannot_be_read_is_told_with_its_column(name, field, project, manager, client_for):
    data = {"kind": "medical", "side": "both", field: "/health/(unclosed"}
    response = client_for(manager).post(url(name, project), data)
    assert "Column" in response.content.decode()
    assert not ExclusionRule.objects.exists()
    assert not SensitiveCategory.objects.exists()


def test_an_exclusion_is_previewed_saved_and_removed(project, manager, client_for):
    make_page(project, "/basket/1")
    client = client_for(manager)
    data = {"pattern": "/basket/", "side": "both", "note": "checkout"}
    preview = client.post(url("settings_exclusions", project), {**data, "check": "1"}).content.decode()
    assert "/basket/1" in preview
    assert not ExclusionRule.objects.exists()
    client.post(url("settings_exclusions", project), data)
    rule = ExclusionRule.objects.get(project=project)
    client.post(url("exclusion_remove", project, rule.pk))
    assert not ExclusionRule.objects.exists()


def test_members_come_change_and_go_but_a_manager_stays(project, manager, client_for):
    newcomer = make_user("nina")
    client = client_for(manager)
    client.post(url("settings_members", project), {"username": "nina", "role": "viewer"})
    membership = Membership.objects.get(project=project, user=newcomer)
    client.post(url("member_change", project, membership.pk), {"role": "editor"})
    membership.refresh_from_db()
    assert membership.role == "editor"
    client.post(url("member_remove", project, membership.pk))
    assert not Membership.objects.filter(user=newcomer).exists()
    own = Membership.objects.get(project=project, user=manager)
    client.post(url("member_remove", project, own.pk))
    client.post(url("member_change", project, own.pk), {"role": "viewer"})
    own.refresh_from_db()
    assert own.role == "manager"


@pytest.mark.parametrize(
    "name", ["settings", "settings_tiers", "settings_sensitive", "settings_exclusions", "settings_members"]
)
def test_settings_are_for_managers(name, project, editor, client_for):
    assert client_for(editor).get(url(name, project)).status_code == 403
    assert client_for(editor).post(url(name, project), {}).status_code == 403


# ------------------------------------------------------------------------------------------------- runs and matching

MATCH = {
    "ranking": "cosine",
    "levels_up": 1,
    "level_penalty": 0.02,
    "threshold": 0.5,
    "per_donor": 5,
    "per_target": 10,
    "mode": "best",
}
SIDES = {"donors-indexable_only": "on", "acceptors-indexable_only": "on"}


def test_the_form_starts_a_run_with_its_parameters_frozen(
    full, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        response = client_for(manager).post(url("match", full), {**MATCH, **SIDES, "acceptors-url_pattern": "/b$"})
    run = Run.objects.filter(project=full, kind=RunKind.MATCH, status="queued").get()
    assert response.url == url("run", full, run.pk)
    assert (run.params["levels_up"], run.params["per_donor"], run.created_by) == (1, 5, manager)
    assert run.params["acceptors"]["url_pattern"] == "/b$"
    again = client_for(manager).post(url("match", full), {**MATCH, **SIDES}, follow=True)
    assert "already waiting" in again.content.decode()


@pytest.mark.parametrize(("field", "value"), [("per_donor", "0"), ("threshold", "2"), ("levels_up", "x")])
def test_a_parameter_out_of_range_starts_nothing(field, value, full, manager, client_for):
    response = client_for(manager).post(url("match", full), {**MATCH, **SIDES, field: value})
    assert response.status_code == 200
    assert not Run.objects.filter(project=full, status="queued").exists()


def test_a_running_run_asks_for_itself_until_it_has_ended(project, viewer, client_for):
    run = make_run(project, status="running", done=3, total=10, stage="Comparing pages")
    client = client_for(viewer)
    fragment = client.get(url("run_state", project, run.pk)).content.decode()
    assert "hx-get" in fragment
    assert "30 %" in fragment
    Run.objects.filter(pk=run.pk).update(status="failed", error="Line 3: no address.")
    fragment = client.get(url("run_state", project, run.pk)).content.decode()
    assert "hx-get" not in fragment
    assert "Line 3: no address." in fragment


def test_only_a_manager_stops_a_run(project, editor, manager, client_for):
    run = runs.start_run(project, RunKind.EMBED, {}, to_queue=False)
    assert client_for(editor).post(url("run_cancel", project, run.pk)).status_code == 403
    client_for(manager).post(url("run_cancel", project, run.pk))
    run.refresh_from_db()
    assert run.cancel_requested


def test_a_finished_run_says_where_to_go_next(project, manager, client_for):
    run = make_run(project)
    assert url("queue", project) in client_for(manager).get(url("run", project, run.pk)).content.decode()
    imported = make_run(project, kind=RunKind.IMPORT_PAGES, report={"skipped_file": True})
    page = client_for(manager).get(url("run", project, imported.pk)).content.decode()
    assert url("import_skipped", project, imported.pk) in page


# ------------------------------------------------------------------------------------------------------------ pages


def test_pages_are_listed_once_each_across_the_screens_of_every_order(project, viewer, client_for):
    expected = {make_page(project, f"/p{number}", inlinks=number % 3).pk for number in range(130)}
    client = client_for(viewer)
    from linker.pages import ORDERS

    for order in ORDERS:
        seen: list[int] = []
        query = f"?order={order}"
        while query:
            response = client.get(url("pages", project) + query)
            seen += [page.pk for page in response.context["rows"]]
            following = response.context["next_query"]
            query = f"?{following}" if following else ""
        assert sorted(seen) == sorted(expected), order


@pytest.mark.parametrize("query", ["after=x", "order=nope", "category=abc", "show=%00", "q=%00", "after=1e400_2"])
def test_a_query_that_makes_no_sense_is_no_error(query, project, viewer, client_for):
    assert client_for(viewer).get(url("pages", project) + "?" + query).status_code == 200


# ------------------------------------------------------------------------------------------------- the way in, health


def test_health_is_told_to_anybody_and_names_no_secret(redis_server):
    response = Client().get(reverse("healthz"))
    assert response.status_code == 200
    assert response.json() == {"database": "ok", "redis": "ok", "migrations": "ok"}


def test_a_wrong_password_is_refused_and_a_right_one_leads_on(manager):
    client = Client()
    login = reverse("login")
    assert client.post(login, {"username": manager.username, "password": "wrong"}).status_code == 200
    assert client.post(login, {"username": manager.username, "password": "correct horse battery"}).url == "/"


def test_a_project_is_made_on_the_command_line(capsys):
    make_user("mara")
    call_command("create_project", "new", "--base-url", "https://new.example/", "--manager", "mara")
    project = Project.objects.get(slug="new")
    assert (project.base_url, project.tiers.count()) == ("https://new.example", 3)
    assert project.memberships.get().role == "manager"
    for slug, base in (("new", "https://other.example"), ("bad slug", "https://x.example"), ("x", "not a url")):
        with pytest.raises(CommandError):
            call_command("create_project", slug, "--base-url", base)
    with pytest.raises(CommandError, match="nobody"):
        call_command("create_project", "y", "--base-url", "https://y.example", "--manager", "nobody")


def test_staff_make_a_project_in_the_browser_and_others_do_not(client_for, viewer):
    staff = make_user("staff", is_staff=True)
    data = {"name": "Garden", "slug": "garden", "base_url": "https://garden.example"}
    assert client_for(viewer).post(reverse("project_create"), data).status_code == 403
    client_for(staff).post(reverse("project_create"), data)
    assert Membership.objects.get(project__slug="garden").user == staff


def test_changing_the_general_settings_keeps_the_suggestions(project, manager, client_for):
    make_edge(project)
    page = client_for(manager).get(url("settings", project))
    data = {name: value for name, value in page.context["form"].initial.items() if value is not None}
    data |= {"name": "Renamed", "title_patterns": " [|] Shop$", "banned_anchors": "our shop"}
    client_for(manager).post(url("settings", project), data)
    project.refresh_from_db()
    assert (project.name, project.title_patterns, project.banned_anchors) == ("Renamed", [" [|] Shop$"], ["our shop"])
    assert CandidateEdge.objects.filter(project=project).count() == 1
