"""A page of the settings that was opened before somebody else changed them saves nothing."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from linker import audit
from linker.models import Change, ChangeKind, Gate, SafetyClass, SectionCap
from linker.projects.policies.caps import set_cap
from linker.projects.policies.gates import add_gate
from linker.projects.policies.tiers import change_tiers
from linker.web.views.settings import stale
from tests.factories import make_category, make_member
from tests.markup import fields_of_form as fields

pytestmark = pytest.mark.django_db

ALERTS = "/p/shop/quality/alerts/"
TIERS, RANKING, GENERAL = "/p/shop/settings/tiers/", "/p/shop/settings/ranking/", "/p/shop/settings/"


@pytest.fixture
def other(project):
    return make_member(project, "manager")


def bounds(project) -> list[float]:
    found = project.tiers.filter(basis="probability").order_by("-lower_bound")
    return [round(bound, 3) for bound in found.values_list("lower_bound", flat=True)]


def move_a_bound(project, user, lower: float) -> None:
    tier = project.tiers.filter(basis="probability").order_by("-lower_bound").first()
    tier.lower_bound = lower
    change_tiers(project, [tier], user=user, basis="probability")


@pytest.mark.nightly
def test_a_save_of_tiers_does_not_undo_what_somebody_else_saved_meanwhile(project, manager, other, client_for):
    client = client_for(manager)
    form = fields(client.get(TIERS).content.decode())
    move_a_bound(project, other, 0.87)

    answer = client.post(TIERS, form, follow=True)

    assert f"Nothing was saved: {other.username} changed these settings on" in answer.content.decode()
    assert bounds(project)[0] == 0.87
    form = fields(answer.content.decode())
    assert "0.87" in form.values(), "the page shows what the other manager has saved"
    assert client.post(TIERS, form, follow=True).status_code == 200


@pytest.mark.nightly
def test_an_undo_does_not_take_back_what_somebody_else_saved_meanwhile(project, manager, other, client_for):
    client, second = client_for(manager), client_for(other)
    form = fields(client.get(TIERS).content.decode())
    name = next(name for name in form if name.endswith("-lower_bound"))
    page = client.post(TIERS, form | {name: "0.9"}, follow=True).content.decode()
    undo = fields(page, '<form class="notice undo"')
    form = fields(second.get(TIERS).content.decode())
    second.post(TIERS, form | {name: "0.95"})
    before = bounds(project)
    assert 0.95 in before

    answer = client.post(TIERS, undo, follow=True)

    assert f"Nothing was saved: {other.username} changed these settings on" in answer.content.decode()
    assert bounds(project) == before


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("address", "name", "value"),
    [(RANKING, "similarity", "0.123"), (GENERAL, "name", "Other"), (ALERTS, "stuck", "7")],
)
def test_other_tabs_that_hold_all_their_values_refuse_as_well(
    project, manager, other, client_for, address, name, value
):
    client, second = client_for(manager), client_for(other)
    form = fields(client.get(address).content.decode())
    assert name in form
    to = f"{ALERTS}limits/" if address == ALERTS else address
    saved = second.post(to, fields(second.get(address).content.decode()) | {name: value}, follow=True)
    assert Change.objects.filter(user=other).exists(), saved.content.decode()

    answer = client.post(to, form, follow=True)

    assert f"Nothing was saved: {other.username}" in answer.content.decode()
    assert answer.request["PATH_INFO"] == address
    assert not Change.objects.filter(user=manager).exists()


@pytest.mark.nightly
def test_bounds_of_their_own_refuse_as_well_and_lead_back_to_themselves(project, manager, other, client_for):
    category = make_category(project, "Gear", "Tents")
    client = client_for(manager)
    address = f"{TIERS}own/?basis=probability&category={category.parent_id}"
    form = fields(client.get(address).content.decode())
    move_a_bound(project, other, 0.87)

    answer = client.post(address, form)

    assert answer.status_code == 302
    assert answer.url == address


@pytest.mark.nightly
def test_a_preview_is_answered_all_the_same(project, manager, other, client_for):
    client = client_for(manager)
    form = fields(client.get(TIERS).content.decode())
    move_a_bound(project, other, 0.87)
    assert client.post(TIERS, form | {"check": "1"}, headers={"HX-Request": "true"}).status_code == 200


@pytest.mark.nightly
def test_a_second_click_on_save_is_no_mistake_but_a_second_window_is(project, manager, client_for, monkeypatch):
    client = client_for(manager)
    form = fields(client.get(TIERS).content.decode())
    name = next(name for name in form if name.endswith("-lower_bound"))
    form |= {name: "0.9"}

    client.post(TIERS, form)
    assert "changed these settings" not in client.post(TIERS, form, follow=True).content.decode()

    monkeypatch.setattr(stale, "timezone", _Later)
    form |= {name: "0.85"}
    assert f"{manager.username} changed these settings" in client.post(TIERS, form, follow=True).content.decode()


class _Later:
    localtime = staticmethod(timezone.localtime)

    @staticmethod
    def now():
        return timezone.now() + timedelta(minutes=5)


def test_an_outsider_learns_nothing_from_a_form(project, outsider, client_for):
    assert client_for(outsider).post(TIERS, {"seen": "settings_tiers:0"}).status_code == 404


@pytest.mark.nightly
def test_the_roll_out_refuses_too_and_a_release_meanwhile_is_no_change_of_it(project, manager, other, client_for):
    category = make_category(project, "Footwear")
    client, second, address = client_for(manager), client_for(other), "/p/shop/settings/rollout/"
    form = fields(client.get(address).content.decode(), '<form class="card form form--wide"')
    rule = {"category": str(category.pk), "pattern": "", "share": "10"}
    audit.record(project, ChangeKind.RELEASE, user=other, subject="Release 1")
    second.post(address, fields(second.get(address).content.decode(), '<form class="card') | rule | {"stage": "off"})

    answer = client.post(address, form | rule | {"stage": "on"}, follow=True).content.decode()

    assert f"Nothing was saved: {other.username} changed these settings on" in answer
    form = fields(answer, '<form class="card form form--wide"')
    audit.record(project, ChangeKind.RELEASE, user=other, subject="Release 2")
    assert "Saved." in client.post(address, form | rule | {"stage": "on"}, follow=True).content.decode()


@pytest.mark.parametrize("tab", ["caps", "safety", "exclusions"])
def test_forms_of_rules_say_what_they_were_shown_with(project, manager, client_for, tab):
    page = client_for(manager).get(f"/p/shop/settings/{tab}/").content.decode()
    for form in re.findall(r'<form class="card form.*?</form>', page, re.DOTALL):
        assert 'name="seen"' in form or tab == "exclusions"


@pytest.mark.nightly
def test_another_value_is_no_second_click(project, manager, client_for):
    first, second = client_for(manager), client_for(manager)
    form = fields(first.get(TIERS).content.decode())
    name = next(name for name in form if name.endswith("-lower_bound"))
    first.post(TIERS, form | {name: "0.91"})

    answer = second.post(TIERS, form | {name: "0.92"}, follow=True).content.decode()

    assert "Nothing was saved" in answer
    assert 0.91 in bounds(project)


def a_cap(project) -> tuple[str, str, dict[str, str]]:
    return "caps", "caps/", {"category": str(make_category(project, "Footwear").pk), "inline_in_all": "4"}


def a_pair(project) -> tuple[str, str, dict[str, str]]:
    first, second = (SafetyClass.objects.create(project=project, name=name) for name in ("Children", "Spirits"))
    sent = {"pair-source": str(first.pk), "pair-target": str(second.pk), "pair-either": "", "pair-reason": "A promise."}
    return "safety", "safety/pair/", sent


def a_gate(_project) -> tuple[str, str, dict[str, str]]:
    return "safety", "safety/gate/", {"gate-min_clicks": "500"}


@pytest.mark.nightly
@pytest.mark.parametrize("rule", [a_cap, a_pair, a_gate])
def test_a_rule_that_was_filled_in_before_somebody_elses_change_is_not_saved(
    project, manager, other, client_for, redis_server, rule
):
    tab, address, sent = rule(project)
    client, page = client_for(manager), f"/p/shop/settings/{tab}/"
    shown = client.get(page).content.decode()
    [form] = [one for one in re.findall(r"<form.*?</form>", shown, re.DOTALL) if f'name="{list(sent)[-1]}"' in one]
    seen = fields(form, "<form")["seen"]
    if tab == "caps":
        set_cap(SectionCap(project=project, inline_in_all=9), other)
    else:
        add_gate(Gate(project=project, min_clicks=9000), other)
    rules = Change.objects.count()

    answer = client.post(f"/p/shop/settings/{address}", sent | {"seen": seen}, follow=True)

    assert f"Nothing was saved: {other.username} changed these settings on" in answer.content.decode()
    what = "the whole site" if tab == "caps" else "pages with 9,000 clicks or more"
    assert f"What was changed: {what}." in answer.content.decode()
    assert answer.redirect_chain[-1][0] == page
    assert Change.objects.count() == rules
