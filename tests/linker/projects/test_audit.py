"""Every change of what a project's managers answer for stands in one log, for good: who, when, from what to what."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from linker import audit
from linker.models import (
    Change,
    ChangeKind,
    ExclusionRule,
    Gate,
    Membership,
    Project,
    RunKind,
    SafetyClass,
    SensitiveRule,
    Tier,
)
from linker.projects import members
from linker.projects.create import create_project, save_project
from linker.projects.policies.exclusions import add_exclusion, remove_exclusion
from linker.projects.policies.gates import add_gate
from linker.projects.policies.ranking import set_formula_weights
from linker.projects.policies.safety import save_class
from linker.projects.policies.sensitive import add_sensitive, remove_sensitive
from linker.projects.policies.tiers import change_tiers
from linker.runs import lifecycle
from review.models import RolloutRule, Stage
from review.releases.create import create_release
from review.releases.rollout_rules import set_rule
from tests.factories import make_category, make_edge, make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def newest(project) -> Change:
    return Change.objects.filter(project=project).first()


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_model_chosen_by_command_is_in_the_log(project):
    with suppress(CommandError):  # there is no such model; it is the project's all the same
        call_command("embed_pages", project.slug, model="/nowhere/a-model")
    change = newest(project)
    assert (change.kind, change.user) == (ChangeKind.SETTINGS, None)
    assert (change.before, change.after) == ({"model_name": "test-model"}, {"model_name": "/nowhere/a-model"})


def test_a_sensitive_category_is_in_the_log_by_its_path(project, manager):
    category = make_category(project, "Magazine", "Health")
    rule = SensitiveRule(project=project, kind="medical", category=category)
    add_sensitive(rule, manager)
    assert newest(project).after["category"] == "Magazine › Health"
    remove_sensitive(project, rule.pk, manager)
    assert newest(project).before["category"] == "Magazine › Health"


def test_gates_classes_and_roll_outs_are_in_the_log_by_the_names_of_what_they_hold(project, manager):
    category = make_category(project, "Magazine", "Health")
    one = SafetyClass(project=project, name="Medical", category=category)
    save_class(one, manager)
    assert newest(project).after["category"] == "Magazine › Health"
    add_gate(Gate(project=project, safety_class=one), manager)
    assert newest(project).after["safety_class"] == "Medical"
    set_rule(RolloutRule(project=project, category=category, stage=Stage.OFF), manager)
    assert newest(project).after["category"] == "Magazine › Health"


def test_a_new_project_says_who_made_it(manager):
    project = create_project(slug="new", name="New", base_url="https://new.example", manager=manager)
    change = newest(project)
    assert (change.kind, change.user, change.before) == (ChangeKind.PROJECT, manager, {})
    assert change.after["base_url"] == "https://new.example"
    assert change.after["manager"] == str(manager)
    assert "+" in change.code_version


@pytest.mark.nightly
def test_settings_saved_in_the_browser_leave_only_what_differs(project, manager, client_for):
    client = client_for(manager)
    address = reverse("settings", args=[project.slug])
    form = client.get(address).context["form"]
    values = {name: "" if value is None else value for name, value in form.initial.items()}
    values |= {"title_patterns": "", "banned_anchors": "click here", "anchor_max_length": 40}
    assert client.post(address, values).status_code == 302
    change = newest(project)
    assert (change.kind, change.user) == (ChangeKind.SETTINGS, manager)
    assert change.before == {"anchor_max_length": 100, "banned_anchors": []}
    assert change.after == {"anchor_max_length": 40, "banned_anchors": ["click here"]}
    count = Change.objects.count()
    client.post(address, values)
    assert Change.objects.count() == count, "a save that changes nothing leaves no row"


@pytest.mark.nightly
def test_another_host_warns_that_the_pages_there_are_will_not_be_found(project, manager, client_for):
    make_edge(project)
    client, url = client_for(manager), reverse("settings", args=["shop"])
    form = client.get(url).context["form"]
    data = {name: form[name].value() for name in form.fields} | {"base_url": "https://other.example"}
    page = client.post(url, {name: value for name, value in data.items() if value is not None}, follow=True)
    assert "Imports for other.example will not find them again" in page.content.decode()


def test_tiers_name_the_bound_that_moved_and_nothing_else(project, manager):
    tier = Tier.objects.get(project=project, basis="cosine", name="Related")
    tier.lower_bound = 0.61
    change_tiers(project, [tier], user=manager)
    change = newest(project)
    assert (change.kind, change.user) == (ChangeKind.TIERS, manager)
    [(name, before)] = change.before.items()
    assert name.endswith("Related")
    assert (before["lower_bound"], change.after[name]["lower_bound"]) == (0.65, 0.61)


def test_exclusions_and_sensitive_rules_are_logged_when_they_come_and_go(project, manager):
    rule = ExclusionRule(project=project, pattern="/basket", side="both")
    add_exclusion(rule, manager)
    assert newest(project).after == {"pattern": "/basket", "side": "both", "note": ""}
    assert remove_exclusion(project, rule.pk, manager)
    assert (newest(project).before["pattern"], newest(project).after) == ("/basket", {})
    assert not remove_exclusion(project, rule.pk, manager)
    sensitive = SensitiveRule(project=project, url_pattern="/health")
    add_sensitive(sensitive, manager)
    assert newest(project).kind == ChangeKind.SENSITIVE
    remove_sensitive(project, sensitive.pk, manager)
    assert newest(project).before["url_pattern"] == "/health"
    assert Change.objects.filter(project=project).exclude(kind=ChangeKind.PROJECT).count() == 4


def test_members_are_logged_when_they_come_change_and_go(project, manager):
    anna = make_user("anna")
    membership = members.add_member(project, anna, "viewer", by=manager)
    members.change_role(project, membership.pk, "editor", by=manager)
    members.remove_member(project, membership.pk, by=manager)
    rows = Change.objects.filter(project=project, kind=ChangeKind.MEMBERS).order_by("pk")
    assert [(row.subject, row.before.get("role"), row.after.get("role")) for row in rows] == [
        ("anna", None, "viewer"),
        ("anna", "viewer", "editor"),
        ("anna", "editor", None),
    ]
    assert {row.user for row in rows} == {manager}


def test_a_refused_change_leaves_no_row(project, manager):
    count = Change.objects.count()
    with pytest.raises(members.LastManager):
        members.remove_member(project, Membership.objects.get(user=manager).pk, by=manager)
    assert Change.objects.count() == count


@pytest.mark.django_db(transaction=True)
def test_an_import_that_ended_well_is_logged_once(project, manager):
    run = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {}, manager, to_queue=False)
    lifecycle.execute(run.pk, lambda run, progress: {"new": 7, "skipped": {"bad": 1}})
    lifecycle.execute(run.pk, lambda run, progress: {"new": 7})
    [change] = Change.objects.filter(project=project, kind=ChangeKind.IMPORT)
    assert (change.user, change.after) == (manager, {"new": 7})


@pytest.mark.django_db(transaction=True)
def test_an_import_of_traffic_names_its_period_and_source(project, manager):
    run = lifecycle.start_run(project, RunKind.IMPORT_TRAFFIC, {}, manager, to_queue=False)
    said = {"file": "May.csv", "period": "2026-05-01 to 2026-05-31", "traffic_source": "search_console", "traffic": 7}
    lifecycle.execute(run.pk, lambda run, progress: said)
    assert newest(project).after == said


def test_weights_at_their_default_have_a_before(project, manager):
    set_formula_weights(project, {"words": 0.9, "mention": 1.5}, manager)
    assert (newest(project).before, newest(project).after) == ({"mention": 1.0}, {"mention": 1.5})
    set_formula_weights(project, {}, manager)
    assert (newest(project).before, newest(project).after) == ({"mention": 1.5}, {"mention": 1.0})


@pytest.mark.django_db(transaction=True)
def test_an_import_that_failed_is_no_change(project, manager):
    def fail(run, progress):
        raise lifecycle.UserError("no")

    run = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {}, manager, to_queue=False)
    lifecycle.execute(run.pk, fail)
    assert not Change.objects.filter(kind=ChangeKind.IMPORT).exists()


def test_a_release_is_logged_with_its_hash(project, editor):
    make_edge(project, status="accepted")
    release = create_release(project, project.edges.all(), user=editor)
    change = newest(project)
    assert (change.kind, change.user, change.after["sha256"]) == (ChangeKind.RELEASE, editor, release.sha256)


def test_what_staff_change_in_the_administration_is_logged_too(project, manager):
    root = make_user("root", is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(root)
    client.post(
        reverse("admin:linker_exclusionrule_add"),
        {"project": project.pk, "pattern": "/cart", "side": "both", "note": ""},
    )
    assert (newest(project).user, newest(project).after["pattern"]) == (root, "/cart")
    rule = ExclusionRule.objects.get()
    client.post(reverse("admin:linker_exclusionrule_delete", args=[rule.pk]), {"post": "yes"})
    assert (newest(project).user, newest(project).before["pattern"]) == (root, "/cart")


def test_rows_can_be_neither_changed_nor_deleted(project):
    audit.record(project, ChangeKind.SETTINGS, user=None, after={"name": "x"})
    for change in ("UPDATE linker_change SET subject = 'other'", "DELETE FROM linker_change"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)


def test_a_user_who_changed_something_cannot_be_deleted(project, manager):
    audit.record(project, ChangeKind.SETTINGS, user=manager, after={"name": "x"})
    Membership.objects.filter(user=manager).delete()
    with pytest.raises(DatabaseError):
        User.objects.filter(pk=manager.pk).delete()


def test_managers_read_the_log_in_the_browser_newest_first(project, manager, client_for):
    for number in range(55):
        audit.record(
            project, ChangeKind.SETTINGS, user=manager, subject=f"change {number}", after={"name": "<b>hostile</b>"}
        )
    client = client_for(manager)
    page = client.get(reverse("settings_log", args=[project.slug])).content.decode()
    assert page.index("change 54") < page.index("change 5<")
    assert "change 4<" not in page
    assert "&lt;b&gt;hostile" in page
    assert "<b>hostile" not in page
    older = client.get(
        reverse("settings_log", args=[project.slug]), {"before": Change.objects.get(subject="change 5").pk}
    )
    assert "change 4<" in older.content.decode()
    none = client.get(reverse("settings_log", args=[project.slug]), {"kind": "release"}).content.decode()
    assert "No such changes" in none


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_others_do_not_read_it(project, role, client_for):
    address = reverse("settings_log", args=[project.slug])
    assert client_for(make_member(project, role)).get(address).status_code == 403


def test_outsiders_do_not_know_of_it(project, outsider, client_for):
    assert client_for(outsider).get(reverse("settings_log", args=[project.slug])).status_code == 404


def test_the_log_of_one_project_says_nothing_of_another(project, manager, client_for):
    other = make_project("other")
    audit.record(other, ChangeKind.SETTINGS, user=None, subject="a secret", after={"name": "x"})
    assert b"a secret" not in client_for(manager).get(reverse("settings_log", args=[project.slug])).content


def shown(client: Client, project) -> str:
    return client.get(reverse("settings_log", args=[project.slug])).content.decode()


def test_the_log_calls_fields_what_their_forms_call_them(project, manager, client_for):
    client = client_for(manager)
    audit.record(project, ChangeKind.SETTINGS, user=manager, before={"www": "same"}, after={"www": "apart"})
    assert "<dt>With and without www. are</dt>" in shown(client, project)
    set_formula_weights(project, {"deficit": 0.2, "distance": 0.3}, manager)
    page = shown(client, project)
    assert "<dt>Deficit</dt>" in page
    assert "<dt>Distance, subtracted</dt>" in page
    tier = Tier.objects.get(project=project, basis="cosine", name="Related")
    tier.lower_bound, tier.confirmed_rel = 0.61, "ugc"
    change_tiers(project, [tier], user=manager)
    page = shown(client, project)
    assert "<dt>Similarity, Related: Rel once accepted</dt>" in page
    assert "lower_bound" not in page
    add_exclusion(ExclusionRule(project=project, pattern="/basket", side="donor"), manager)
    assert "<dt>Leave them out as</dt>" in shown(client, project)
    add_sensitive(SensitiveRule(project=project, kind="legal", word="tents"), manager)
    page = shown(client, project)
    assert "<dt>Word in titles, H1 and addresses</dt>" in page
    assert "<dt>Decision</dt>" in page


def test_a_name_that_no_form_has_is_shown_in_words(project, manager, client_for):
    audit.record(project, ChangeKind.IMPORT, user=manager, after={"odd_count": 3, "new": 7})
    page = shown(client_for(manager), project)
    assert "<dt>Odd count</dt>" in page
    assert "<dt>New</dt>" in page


def test_two_managers_who_save_at_once_keep_each_others_settings(project, manager):
    mine = Project.objects.get(pk=project.pk)
    theirs = Project.objects.get(pk=project.pk)
    theirs.query_blend = 0.9
    save_project(theirs, manager, ["query_blend"])
    set_formula_weights(theirs, {"words": 0.9}, manager)
    mine.anchor_max_length = 40
    save_project(mine, manager, ["anchor_max_length"])
    project.refresh_from_db()
    assert (project.query_blend, project.formula_weights, project.anchor_max_length) == (0.9, {"words": 0.9}, 40)
    assert newest(project).before == {"anchor_max_length": 100}
