"""Django's administration: what staff can do there, and what nobody can."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from linker.models import (
    BarredPair,
    Change,
    ExclusionRule,
    Gate,
    KeptBounds,
    KeptRun,
    Membership,
    Notification,
    Page,
    Project,
    RoleRule,
    Run,
    RunComparison,
    SafetyClass,
    SectionCap,
    SensitiveRule,
    Suppression,
    Tier,
)
from review.models import (
    Alert,
    AlertClosing,
    Decision,
    Judgement,
    PublishedLink,
    Release,
    ReleaseDraft,
    RolloutRule,
    Sample,
    SampleLink,
    Verb,
)
from review.releases.create import create_release
from tests.factories import make_category, make_edge, make_page, make_project, make_run, make_user

GOVERNANCE = [
    Alert, AlertClosing, BarredPair, Change, Gate, Judgement, KeptBounds, KeptRun, Notification, PublishedLink,
    ReleaseDraft, RolloutRule, RunComparison, SafetyClass, Sample, SampleLink,
    SectionCap, Suppression,
]  # fmt: skip
SHOWN_ONLY = [Page, Run, Decision, Release, *GOVERNANCE]


@pytest.fixture
def root(db) -> User:
    return make_user("root", is_staff=True, is_superuser=True)


@pytest.fixture
def staff(root) -> Client:
    client = Client()
    client.force_login(root)
    return client


@pytest.fixture
def decided(project, root):
    """An edge that root accepted and that has left."""
    edge = make_edge(project, status="accepted")
    Decision.objects.create(
        edge=edge,
        project=project,
        user=root,
        verb=Verb.ACCEPT,
        status_before="suggested",
        status_after="accepted",
        anchor_before=edge.anchor,
        anchor_after=edge.anchor,
        rel_before="nofollow",
        rel_after="follow",
        seen_run=edge.run,
        seen_score=edge.score,
        seen_similarity=edge.similarity,
        seen_placement=edge.placement,
    )
    create_release(project, project.edges.all())
    _govern(project, root, edge)
    return edge


def _govern(project, root, edge) -> None:
    """A row of what managers set and of what audits found."""
    now = timezone.now()
    drug, shop = (SafetyClass.objects.create(project=project, name=name) for name in ("Drugs", "Shop"))
    BarredPair.objects.create(project=project, source=drug, target=shop, reason="The law", made_by=root)
    Gate.objects.create(project=project, min_clicks=100, made_by=root)
    SectionCap.objects.create(project=project, inline_in_all=20, made_by=root)
    RolloutRule.objects.create(project=project, pattern="/tag/")
    ReleaseDraft.objects.create(project=project, created_by=root)
    Notification.objects.create(user=root, kind="alert", subject="Something to look at", due_at=now)
    Suppression.objects.create(
        project=project, kind="pair", reach="good", edge=edge, source=edge.source, target=edge.target, made_by=root
    )
    older, newer = (KeptRun.objects.create(run=make_run(project), links=1, donors=1) for _ in range(2))
    RunComparison.objects.create(run=newer, before=older, report={})
    KeptBounds.objects.create(project=project, run=newer.run, before=older.run, user=root)
    alert = Alert.objects.create(project=project, kind="lost", closed_at=now)
    AlertClosing.objects.create(alert=alert, user=root, note="Known")
    sample = Sample.objects.create(project=project, kind="audit", run=make_run(project, "audit"), seed=1, until=now)
    link = SampleLink.objects.create(
        sample=sample, project=project, edge=edge, place=0, drawn_from="approved", generators=["nearest"]
    )
    Judgement.objects.create(link=link, judge=root, grade="good")


def address(model: type, what: str = "changelist", *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{what}", args=args)


def test_editors_who_are_not_staff_do_not_get_in(project, client_for, manager):
    assert client_for(manager).get("/admin/").status_code == 302
    assert client_for(manager).get("/django-rq/").status_code == 403


@pytest.mark.sample(4)
@pytest.mark.parametrize("model", [User, Project, Tier, SensitiveRule, ExclusionRule, RoleRule, *SHOWN_ONLY])
def test_every_list_and_every_row_opens(staff, project, decided, model):
    ExclusionRule.objects.create(project=project, pattern="/tag/")
    RoleRule.objects.create(project=project, pattern="/tag/", role="hub")
    SensitiveRule.objects.create(project=project, category=make_category(project, "Health"))
    row = model.objects.first()

    assert staff.get(address(model)).status_code == 200
    assert staff.get(address(model), {"q": "shop"}).status_code == 200
    assert staff.get(address(model, "change", row.pk)).status_code == 200


@pytest.mark.sample(4)
@pytest.mark.parametrize("model", SHOWN_ONLY)
def test_what_machines_and_decisions_wrote_is_only_shown(staff, decided, model):
    row = model.objects.first()

    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "change", row.pk), {}).status_code == 403
    assert staff.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    staff.post(address(model), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert model.objects.filter(pk=row.pk).exists()


def test_a_list_costs_the_same_queries_however_long_it_is(staff, project, django_assert_max_num_queries):
    for _ in range(20):
        make_page(project)

    with django_assert_max_num_queries(12):
        staff.get(address(Page))


@pytest.mark.nightly
@pytest.mark.parametrize("model", GOVERNANCE)
def test_a_list_of_what_managers_set_costs_the_same_queries_however_long_it_is(
    staff, root, project, decided, model, django_assert_max_num_queries
):
    with CaptureQueriesContext(connection) as few:
        staff.get(address(model))
    for number in range(3):
        other = make_project(f"other-{number}")
        edge = make_edge(other, status="accepted")
        create_release(other, other.edges.all())
        _govern(other, root, edge)

    with django_assert_max_num_queries(len(few)):
        staff.get(address(model))


def test_a_project_starts_with_its_tiers_and_members(staff, root):
    form = {
        "name": "Magazine",
        "slug": "magazine",
        "base_url": "https://magazine.example/",
        "trailing_slash": "keep",
        "www": "keep",
        "parameter_urls": "auto",
        "vector_source": "encoder",
        "model_name": "all-MiniLM-L6-v2",
        "text_recipe": "full",
        "anchor_max_length": "70",
        "identical_anchor_limit": "3",
        "anchor_repeats": "say",
        "query_blend": "0.3",
        "queue_order": "donor",
        "gap_links": "beside",
        "memberships-TOTAL_FORMS": "1",
        "memberships-INITIAL_FORMS": "0",
        "memberships-0-user": str(root.pk),
        "memberships-0-role": "manager",
    }

    response = staff.post(address(Project, "add"), form)

    made = Project.objects.get(slug="magazine")
    assert response.status_code == 302
    assert (made.base_url, made.anchor_max_length) == ("https://magazine.example", 70)
    assert {tier.basis for tier in made.tiers.all()} == {"probability", "quantile", "cosine"}
    assert [tier.name for tier in made.tiers.filter(basis="cosine")] == ["Likely", "Related", "Reserve"]
    assert Membership.objects.get(project=made).user == root


def test_a_project_cannot_be_deleted_and_the_page_says_why(staff, project, decided):
    page = staff.get(address(Project, "change", project.pk)).content.decode()

    assert "A project cannot be deleted, because its decisions are kept for good." in page
    assert staff.post(address(Project, "delete", project.pk), {"post": "yes"}).status_code == 403
    assert Project.objects.filter(pk=project.pk).exists()


@pytest.mark.nightly
def test_who_has_decided_cannot_be_deleted(staff, root, decided):
    newcomer = make_user("newcomer")

    assert staff.post(address(User, "delete", root.pk), {"post": "yes"}).status_code == 403
    assert staff.post(address(User, "delete", newcomer.pk), {"post": "yes"}).status_code == 302
    assert list(User.objects.all()) == [root]


def test_moving_a_tiers_bound_moves_the_suggestions(staff, project):
    edge = make_edge(project, score=0.7, span_start=0, span_end=4)
    inline = project.tiers.get(basis="cosine", name="Likely")
    form = {"name": "Likely", "lower_bound": "0.68", "placement": "inline", "rel": "follow", "confirmed_rel": "follow"}

    response = staff.post(address(Tier, "change", inline.pk), form)

    edge.refresh_from_db()
    assert response.status_code == 302
    assert (edge.tier.name, edge.placement, edge.rel) == ("Likely", "inline", "follow")


def test_a_bound_that_no_probability_can_have_is_refused_with_a_sentence(staff, project):
    tier = project.tiers.get(basis="probability", name="Likely")
    form = {"name": "Likely", "lower_bound": "-0.1", "placement": "inline", "rel": "follow", "confirmed_rel": "follow"}

    page = staff.post(address(Tier, "change", tier.pk), form)

    assert "A probability lies between 0 and 1." in page.content.decode()


def test_deleting_a_tier_gives_its_suggestions_to_the_next(staff, project):
    edge = make_edge(project, score=0.9)
    inline = project.tiers.get(basis="cosine", name="Likely")

    staff.post(address(Tier), {"action": "delete_selected", "_selected_action": [inline.pk], "post": "yes"})

    edge.refresh_from_db()
    assert edge.tier.name == "Related"


def test_a_sensitive_category_marks_the_suggestions_until_it_is_deleted(staff, project):
    health = make_category(project, "Health")
    edge = make_edge(project, make_page(project, category=health))

    staff.post(address(SensitiveRule, "add"), {"project": project.pk, "kind": "medical", "category": health.pk})
    edge.refresh_from_db()
    marked = edge.sensitive
    rule = SensitiveRule.objects.get()
    staff.post(address(SensitiveRule, "delete", rule.pk), {"post": "yes"})
    edge.refresh_from_db()

    assert (bool(marked), edge.sensitive) == (True, "")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Enter a word, choose a category or enter a pattern"),
        ({"url_pattern": "(unclosed"}, "RE2 syntax"),
        ({"category": "other"}, "belongs to another project"),
    ],
)
def test_a_sensitive_rule_that_cannot_work_is_refused(staff, project, outsider, fields, message):
    if fields.get("category"):
        fields = {"category": make_category(Project.objects.get(slug="elsewhere"), "Health").pk}

    page = staff.post(address(SensitiveRule, "add"), {"project": project.pk, "kind": "medical", **fields})

    assert message in page.content.decode()
    assert not SensitiveRule.objects.exists()


def test_an_exclusion_with_a_broken_pattern_is_refused(staff, project):
    page = staff.post(address(ExclusionRule, "add"), {"project": project.pk, "pattern": "a(?=b)", "side": "both"})

    assert "RE2 syntax" in page.content.decode()
    assert not ExclusionRule.objects.exists()


def test_inline_scripts_are_allowed_on_the_dashboard_of_jobs_alone(staff, redis_server):
    dashboard = staff.get("/django-rq/")
    elsewhere = [staff.get(path)["Content-Security-Policy"] for path in ("/admin/", "/login/")]

    assert dashboard.status_code == 200
    assert "script-src 'self' 'unsafe-inline'" in dashboard["Content-Security-Policy"]
    assert "unsafe-inline" not in "".join(elsewhere)


def test_every_model_of_the_administration_is_one_we_mean_to_show():
    shown = {model._meta.label for model in admin.site._registry}
    ours = {"linker.Category", "linker.ExclusionRule", "linker.Page", "linker.Project", "linker.RoleRule", "linker.Run"}
    ours |= {
        "ingest.Upload",
        "linker.Identity",
        "linker.SensitiveRule",
        "linker.Tier",
        "review.Decision",
        "review.Release",
        "auth.User",
        "auth.Group",
    }
    ours |= {model._meta.label for model in GOVERNANCE}

    assert shown == ours


@pytest.mark.filterwarnings("error::django.core.paginator.UnorderedObjectListWarning")
def test_the_list_of_categories_has_an_order(project, admin_client):
    for name in ("Shop", "Magazine"):
        make_category(project, name)
    page = admin_client.get("/admin/linker/category/").content.decode()
    assert page.index("Magazine") < page.index("Shop", page.index("result_list"))
