"""The pages around the queue: what they show, what they save, and what they refuse."""

from __future__ import annotations

import re
from unittest.mock import ANY

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from linker.engine.params import MatchParams, Ranking
from linker.matching.report_types import RetierReport, TierCount
from linker.models import (
    CandidateEdge,
    ExclusionRule,
    Membership,
    Project,
    Run,
    RunKind,
    SensitiveRule,
    Tier,
)
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_edge, make_link, make_page, make_project, make_run, make_user
from tests.markup import compact

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
    make_run(project, report={"edges": 1, "tiers": {"Likely": 1}}, params={"levels_up": 2, "per_target": 0})
    return project


PAGES = ["project", "pages", "match", "runs", "settings", "settings_tiers", "settings_sensitive"]
PAGES += ["settings_ranking", "settings_exclusions", "settings_members", "import", "queue", "releases"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_full_and_empty_and_escapes_what_crawls_bring(name, full, manager, client_for):
    response = client_for(manager).get(url(name, full))
    assert response.status_code == 200
    assert "<script>alert" not in response.content.decode()
    empty = make_project("empty")
    Membership.objects.create(project=empty, user=manager, role="manager")
    assert client_for(manager).get(url(name, empty)).status_code == 200


@pytest.mark.nightly
def test_a_page_and_a_run_show_their_rows(full, viewer, client_for):
    client = client_for(viewer)
    page = client.get(url("page", full, full.pages.get(url__endswith="/a").pk)).content.decode()
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    run = client.get(url("run", full, full.runs.first().pk)).content.decode()
    assert "Links proposed" in run
    assert "no cap" in run


@pytest.mark.nightly
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


def tiers_url(project: Project, basis: str = "cosine") -> str:
    return f"{url('settings_tiers', project)}?basis={basis}"


def tier_form(project: Project, basis: str = "cosine", **changes: str) -> dict[str, str]:
    tiers = list(Tier.objects.filter(project=project, basis=basis).order_by("-lower_bound"))
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


@pytest.mark.nightly
def test_moving_a_bound_moves_the_suggestions_and_is_written_down(project, manager, client_for):
    edge = make_edge(project, score=0.75)
    response = client_for(manager).post(
        tiers_url(project), tier_form(project, **{"tiers-0-lower_bound": "0.7"}), follow=True
    )
    assert "Likely 0 → 1" in response.content.decode()
    edge.refresh_from_db()
    assert edge.tier.name == "Likely"
    record = Run.objects.get(project=project, kind=RunKind.RETIER)
    assert (record.created_by, record.status) == (manager, "succeeded")
    report = RetierReport.from_json(record.report)
    assert TierCount(name="Related", links=1) in report.before
    assert TierCount(name="Likely", links=1) in report.after
    assert record.params["after"]["Likely"].startswith("from 0.7")


def test_two_tiers_cannot_begin_at_the_same_score(project, manager, client_for):
    response = client_for(manager).post(tiers_url(project), tier_form(project, **{"tiers-0-lower_bound": "0.65"}))
    assert response.status_code == 422
    assert "Nothing was saved" in response.content.decode()
    assert Tier.objects.get(project=project, basis="cosine", name="Likely").lower_bound == 0.80


@pytest.mark.parametrize(
    ("basis", "said"), [("probability", "A probability lies between"), ("quantile", "A share of the run lies between")]
)
def test_a_bound_that_the_basis_cannot_have_is_refused_with_a_sentence(basis, said, project, manager, client_for):
    form = tier_form(project, basis, **{"tiers-0-lower_bound": "-0.2"})
    assert said in client_for(manager).post(tiers_url(project, basis), form).content.decode()
    assert not Run.objects.filter(project=project, kind=RunKind.RETIER).exists()


def test_a_form_of_one_basis_cannot_write_the_tiers_of_another(project, manager, client_for):
    before = list(Tier.objects.filter(project=project).order_by("pk").values())
    form = tier_form(project, "cosine", **{"tiers-0-lower_bound": "0.7"})
    client_for(manager).post(tiers_url(project, "quantile"), form)
    assert list(Tier.objects.filter(project=project).order_by("pk").values()) == before


@pytest.mark.nightly
def test_the_tiers_say_what_they_hold_and_which_basis_is_in_use(project, manager, client_for):
    run = make_run(project)
    make_edge(project, score=0.7, run=run)
    make_edge(project, score=0.7, run=run, status="accepted")
    client = client_for(manager)
    page = " ".join(client.get(tiers_url(project)).content.decode().split())
    assert ">1 open suggestion<" in page
    assert "These bounds apply to suggestions without a probability" in page
    assert "not in use" in client.get(tiers_url(project, "quantile")).content.decode()
    assert "The bounds of <a" in client.get(url("settings_tiers", project)).content.decode()


@pytest.mark.nightly
def test_another_basis_is_put_to_use_with_its_bounds(project, manager, client_for):
    edge = make_edge(project, score=0.2, quantile=0.95)
    response = client_for(manager).post(
        tiers_url(project, "quantile"), {**tier_form(project, "quantile"), "use": "quantile"}, follow=True
    )
    project.refresh_from_db()
    edge.refresh_from_db()
    assert project.tier_basis == "quantile"
    assert (edge.tier.basis, edge.tier.name) == ("quantile", "Likely")
    assert "Likely 0 → 1" in response.content.decode()


def test_the_weights_of_the_formula_are_saved_by_what_differs_and_go_into_the_run(
    full, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    client = client_for(manager)
    shown = client.get(url("settings_ranking", full)).context["form"].initial
    client.post(url("settings_ranking", full), {**shown, "mention": "2.5"})
    full.refresh_from_db()
    assert full.formula_weights == {"mention": 2.5}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(url("match", full), {**MATCH, **SIDES, "ranking": "formula"})
    assert Run.objects.get(project=full, status="queued").params["weights"] == {"mention": 2.5}
    client.post(url("settings_ranking", full), {"reset": "1"})
    full.refresh_from_db()
    assert full.formula_weights == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"words": "a lot"}, "Words needs a number; the default is 0.9."),
        ({"words": ""}, "Words needs a number; the default is 0.9."),
        ({"words": "nan"}, "Words needs a number; the default is 0.9."),
        ({"density": "-1"}, "A weight lies between 0 and 10."),
        (dict.fromkeys(["similarity", "words", "mention", "authority", "deficit"], "0"), "At least one weight"),
    ],
)
def test_weights_that_make_no_formula_are_refused_with_a_sentence(changes, said, project, manager, client_for):
    client = client_for(manager)
    shown = client.get(url("settings_ranking", project)).context["form"].initial
    assert said in client.post(url("settings_ranking", project), {**shown, **changes}).content.decode()
    project.refresh_from_db()
    assert project.formula_weights == {}


def test_a_tier_can_be_added_and_deleted(project, manager, client_for):
    client = client_for(manager)
    client.post(tiers_url(project), tier_form(project, **{"tiers-3-name": "Top", "tiers-3-lower_bound": "0.95"}))
    assert Tier.objects.filter(project=project, name="Top").exists()
    edge = make_edge(project, score=0.97)
    assert edge.tier.name == "Top"
    client.post(tiers_url(project), tier_form(project, **{"tiers-0-DELETE": "on"}))
    edge.refresh_from_db()
    assert edge.tier.name == "Likely"


def test_a_sensitive_subtree_marks_its_suggestions_at_once_and_can_be_taken_back(project, manager, client_for):
    category = make_category(project, "Health")
    edge = make_edge(project, None, make_page(project, category=category))
    client = client_for(manager)
    client.post(url("settings_sensitive", project), {"kind": "medical", "category": category.pk, "url_pattern": ""})
    edge.refresh_from_db()
    assert "medical (Health)" in edge.sensitive
    rule = SensitiveRule.objects.get(project=project)
    client.post(url("sensitive_remove", project, rule.pk))
    edge.refresh_from_db()
    assert edge.sensitive == ""


@pytest.mark.parametrize(("name", "field"), [("settings_sensitive", "url_pattern"), ("settings_exclusions", "pattern")])
def test_a_pattern_that_cannot_be_read_is_told_with_its_column(name, field, project, manager, client_for):
    data = {"kind": "medical", "side": "both", field: "/health/(unclosed"}
    response = client_for(manager).post(url(name, project), data)
    assert "Column" in response.content.decode()
    assert not ExclusionRule.objects.exists()
    assert not SensitiveRule.objects.exists()


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


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("settings", {"name": ""}),
        ("settings_tiers", {"tiers-TOTAL_FORMS": "0", "tiers-INITIAL_FORMS": "0"}),
        ("settings_ranking", {"words": "-1"}),
        ("settings_sensitive", {"kind": "medical", "word": "a"}),
        ("sensitive_leave_out", {"out-kind": "medical", "out-word": "tent"}),
        ("settings_exclusions", {"pattern": "("}),
        ("settings_exclusions", {"pattern": "(", "check": "1"}),
        ("settings_members", {"username": "nobody", "role": "editor"}),
        ("match", {}),
    ],
)
def test_a_form_with_a_mistake_comes_back_as_unprocessable(project, manager, client_for, name, data):
    response = client_for(manager).post(url(name, project), data)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode() or "notice--bad" in response.content.decode()


def test_a_pattern_that_is_only_tried_is_no_mistake(project, manager, client_for):
    data = {"pattern": "/page", "side": "both", "check": "1"}
    assert client_for(manager).post(url("settings_exclusions", project), data).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        *("settings", "settings_tiers", "settings_ranking"),
        *("settings_sensitive", "settings_exclusions", "settings_members"),
    ],
)
def test_settings_are_for_managers(name, project, editor, client_for):
    assert client_for(editor).get(url(name, project)).status_code == 403
    assert client_for(editor).post(url(name, project), {}).status_code == 403


# ------------------------------------------------------------------------------------------------- runs and matching

MATCH = {
    "ranking": "cosine",
    "scope": "levels",
    "generators": ["category", "mention"],
    "levels_up": 1,
    "level_penalty": 0.02,
    "threshold": 0.5,
    "inline_per_donor": 2,
    "related_per_donor": 3,
    "inline_in_all": 60,
    "related_in_all": 40,
    "per_1000_words": 20,
    "per_target": 10,
    "target_share": 2,
    "reciprocal": "",
    "mode": "optimal",
}
SIDES = {"donors-indexable_only": "on", "acceptors-indexable_only": "on"}


@pytest.mark.nightly
def test_the_form_starts_a_run_with_its_parameters_frozen(
    full, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        response = client_for(manager).post(url("match", full), {**MATCH, **SIDES, "acceptors-url_pattern": "/b$"})
    run = Run.objects.filter(project=full, kind=RunKind.MATCH, status="queued").get()
    assert response.url == url("run", full, run.pk)
    assert (run.params["scope"], run.params["levels_up"]) == ("levels", 1)
    assert (run.params["inline_per_donor"], run.created_by) == (2, manager)
    assert (run.params["generators"], run.params["mode"]) == (["category", "mention"], "optimal")
    assert (run.params["target_share"], run.params["reciprocal"]) == (0.02, None)
    assert [run.params[name] for name in ("inline_in_all", "related_in_all", "per_1000_words")] == [60, 40, 20]
    assert run.params["acceptors"]["url_pattern"] == "/b$"
    again = client_for(manager).post(url("match", full), {**MATCH, **SIDES}, follow=True)
    assert "already waiting" in again.content.decode()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("related_per_donor", "-1"), ("threshold", "2"), ("levels_up", "x"), ("scope", "moon")),
        *(("generators", ["clairvoyance"]), ("generators", []), ("target_share", "0"), ("mode", "worst")),
    ],
)
def test_a_parameter_out_of_range_starts_nothing(field, value, full, manager, client_for):
    response = client_for(manager).post(url("match", full), {**MATCH, **SIDES, field: value})
    assert response.status_code == 422
    assert not Run.objects.filter(project=full, status="queued").exists()


@pytest.mark.nightly
def test_a_match_is_one_click_and_the_rest_is_folded_until_it_differs(
    full, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    client = client_for(manager)
    page = client.get(url("match", full))
    form = page.context["form"]
    assert '<details class="advanced">' in page.content.decode()
    plain = {name: form.initial[name] for name in form.fields if form.initial[name] is not None}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(url("match", full), {**plain, **SIDES})
    run = Run.objects.get(project=full, status="queued")
    assert run.params == MatchParams().to_dict() | {"generators": [], "donors": ANY, "acceptors": ANY}
    Run.objects.filter(pk=run.pk).update(status="succeeded", params={**run.params, "reciprocal": 1})
    assert '<details class="advanced" open>' in client.get(url("match", full)).content.decode()


def test_the_threshold_of_a_run_from_before_is_not_offered_to_another_ranking(project, manager, client_for):
    make_run(project, params={"threshold": 0.4, "levels_up": 4, "donors": {"url_pattern": "/shop/"}})
    page = client_for(manager).get(url("match", project))
    assert page.context["form"].initial["threshold"] is None
    assert page.context["sides"]["donors"].initial["url_pattern"] == "/shop/"


@pytest.mark.parametrize(
    ("chosen", "became", "offered"),
    [("cosine", "cosine", 0.6), ("auto", "cosine", None), ("learned", "formula", None), ("cosine", None, None)],
)
def test_the_last_threshold_is_offered_only_where_the_run_was_ranked_as_the_form_says(
    chosen, became, offered, project, manager, client_for
):
    params = MatchParams(ranking=Ranking(chosen), threshold=0.6, levels_up=4).to_dict()
    make_run(project, params=params, report={"ranking": became} if became else {})
    initial = client_for(manager).get(url("match", project)).context["form"].initial
    assert (initial["ranking"], initial["threshold"], initial["levels_up"]) == (chosen, offered, 4)


def test_a_running_run_asks_for_itself_until_it_has_ended(project, viewer, client_for):
    run = make_run(project, status="running", done=3, total=10, stage="Comparing pages")
    client = client_for(viewer)
    fragment = client.get(url("run_state", project, run.pk), headers={"HX-Request": "true"}).content.decode()
    assert "hx-get" in fragment
    assert "30%" in fragment
    Run.objects.filter(pk=run.pk).update(status="failed", error="Line 3: no address.")
    fragment = client.get(url("run_state", project, run.pk), headers={"HX-Request": "true"}).content.decode()
    assert "hx-get" not in fragment
    assert "Line 3: no address." in fragment


def test_only_a_manager_stops_a_run(project, editor, manager, client_for):
    run = lifecycle.start_run(project, RunKind.EMBED, {}, to_queue=False)
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


@pytest.mark.nightly
def test_pages_are_listed_once_each_across_the_screens_of_every_order(project, viewer, client_for):
    expected = {make_page(project, f"/p{number}", inlinks=number % 3).pk for number in range(130)}
    client = client_for(viewer)
    from linker.pages.listing import ORDERS

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
    assert (project.base_url, project.tiers.count()) == ("https://new.example", 8)
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
    assert client_for(staff).post(reverse("project_create"), {}).status_code == 422
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


def test_the_tiers_of_the_overview_add_up_to_all_open_suggestions(client_for, manager, project):
    for score in (0.9, 0.75, 0.1, 0.05):
        make_edge(project, score=score)
    page = compact(client_for(manager).get(url("project", project)).text)
    assert 'Below every tier <span class="badge">held back</span>' in page
    shown = re.findall(r'data-label="In the (?:text|list at the end)"> ?(?:<a [^>]*>)?([0-9,]+) ?<', page)
    assert sum(map(int, shown)) == 4
    assert sum(map(int, shown[-2:])) == 2


def test_the_overview_has_no_row_for_suggestions_below_every_tier_where_there_are_none(client_for, manager, project):
    make_edge(project, score=0.9)
    assert "Below every tier" not in client_for(manager).get(url("project", project)).text
