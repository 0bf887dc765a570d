"""axe finds nothing on the pages of quality, roll-out, people and reports, and nothing is wider than a phone: without
anything on them, full, and with a mistake; in both languages and both themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from linker.matching.kept_runs import keep_links, pin
from linker.matching.run_comparison import compare_runs
from linker.models import (
    BarredPair,
    Basis,
    ExclusionRule,
    ExpertSection,
    Gate,
    KeptRun,
    Run,
    RunKind,
    SafetyClass,
    Tier,
)
from linker.projects import invitations
from review.client_report import write_report
from review.decisions import decide_edges
from review.models import Alert, AlertKind, Grade, RolloutRule, Sample, Stage, Verb
from review.quality import alerts, audits, calibrations, judging
from review.releases.create import create_release
from tests.browser import axe
from tests.factories import make_category, make_edge, make_member, make_page, make_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.contrib.auth.models import User
    from playwright.sync_api import Page

    from linker.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LISTS = (
    "settings/safety/", "settings/rollout/", "settings/exclusions/", "settings/members/", "settings/log/", "quality/",
    "quality/judge/", "quality/calibrations/", "quality/alerts/", "runs/kept/", "report/",
)  # fmt: skip
LONG = "Waterproof-and-breathable-outerwear-for-the-whole-family-in-every-weather"


@pytest.fixture
def at(page, live_server, project) -> Callable[[str], None]:
    def go(path: str) -> None:
        page.goto(f"{live_server.url}/p/{project.slug}/{path}")

    return go


def looked_at(page: Page) -> list[str]:
    """What axe finds where the page is as narrow as a phone, and whether the page fits there."""
    page.set_viewport_size({"width": 390, "height": 900})
    found = axe.findings(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    return [*found, *([f"{wide} pixels wide"] if wide > 390 else [])]


@pytest.fixture(params=["en", pytest.param("de", marks=pytest.mark.nightly)])  # the same templates with other words
def speaks(request, page, live_server) -> str:
    page.context.add_cookies([{"name": "django_language", "value": request.param, "url": live_server.url}])
    return request.param


@pytest.mark.nightly
def test_nothing_is_found_where_a_project_has_nothing_yet(speaks, page, at, manager, sign_in):
    sign_in(manager)
    found = {}
    for path in LISTS:
        at(path)
        found[path] = looked_at(page)
    assert {path: one for path, one in found.items() if one} == {}


@pytest.fixture
def full(project: Project, manager: User, redis_server) -> Project:
    """Some of everything that these pages show, with long names."""
    ada, expert = make_member(project, username="ada"), make_member(project, "expert", "a-name-as-long-as-they-come")
    shop = make_category(project, "Shop", LONG)
    donor = make_page(project, "/shop/" + LONG, title=f"The donor {LONG}", body="Wear warm boots on snow.", clicks=500)
    for number in range(40):
        make_edge(
            project, donor, make_page(project, category=shop), anchor="warm boots",
            probability=number / 40 + 0.01, score=0.9,
        )  # fmt: skip
    Tier.objects.create(project=project, basis=Basis.PROBABILITY, name="Good ones", lower_bound=0.93)
    _settings(project, manager, shop, expert)
    _audit(project, ada, manager)
    _calibration(project, ada)
    _runs(project, manager)
    found = {"near": 40, "open": 100, "tier": "Good ones"}
    Alert.objects.create(project=project, kind=AlertKind.NEAR_BOUND, cause="tier", found=found)
    found = {"url": donor.url, "gained": 14, "out": 20}
    closed = Alert.objects.create(project=project, kind=AlertKind.DONOR, cause=f"page:{donor.pk}", found=found)
    alerts.close(project, manager, closed.pk, "A new category was opened that day.")
    return project


def _settings(project: Project, manager: User, shop, expert: User) -> None:
    one = SafetyClass.objects.create(project=project, name="Alcohol", category=shop, disclaimer="Not for children.")
    other = SafetyClass.objects.create(project=project, name="For children", url_pattern=f"/{LONG}")
    BarredPair.objects.create(project=project, source=one, target=other, either=True, reason="The law forbids it.")
    for values in ({"min_clicks": 10_000}, {"category": shop}, {"safety_class": one}):
        Gate.objects.create(project=project, **values)
    RolloutRule.objects.create(project=project, category=shop, stage=Stage.PILOT, share=10)
    RolloutRule.objects.create(project=project, pattern=f"/{LONG}/.*", stage=Stage.OFF)
    ExclusionRule.objects.create(project=project, pattern=f"/{LONG}/.*", side="both", note="Legal notices")
    ExpertSection.objects.create(membership=project.memberships.get(user=expert), category=shop)
    invitations.invite(project, "editor", f"{LONG[:40]}@example.com", by=manager)
    gone, _token = invitations.invite(project, "viewer", "", by=manager)
    invitations.revoke(project, gone.pk, by=manager)


def _audit(project: Project, ada: User, manager: User) -> None:
    edges = [make_edge(project, anchor="warm boots", probability=0.8) for _ in range(6)]
    decide_edges(project, [edge.pk for edge in edges[:4]], Verb.ACCEPT, ada)
    decide_edges(project, [edge.pk for edge in edges[4:]], Verb.ACCEPT, manager)
    audits.run_audit(make_run(project, RunKind.AUDIT))
    for link, grade in zip(list(judging.waiting_for(project, manager))[:3], Grade, strict=False):
        judging.judge(project, manager, link.pk, grade)
    create_release(project, project.edges.filter(pk=edges[0].pk), user=manager)


def _calibration(project: Project, ada: User) -> None:
    params = {"bands": 5, "size": 40, "twice": False, "seed": 1}
    calibrations.run_calibration(make_run(project, RunKind.CALIBRATE, params=params))
    for link in list(judging.waiting_for(project, ada))[:30]:
        judging.judge(project, ada, link.pk, Grade.GOOD if (link.probability or 0) > 0.4 else Grade.BAD)


def _runs(project: Project, manager: User) -> None:
    runs = [make_run(project, RunKind.MATCH, finished_at=timezone.now()) for _ in range(2)]
    for run in runs:
        project.edges.filter(status="suggested").update(run=run)
        keep_links(run)
    pin(runs[0], manager, f"Before {LONG}")
    params = {"run": runs[1].pk, "before": runs[0].pk}
    compare_runs(make_run(project, RunKind.COMPARE, params=params))
    report = make_run(project, RunKind.CLIENT_REPORT, status="running")
    values = {"report": write_report(report).to_json(), "status": "succeeded", "finished_at": timezone.now()}
    Run.objects.filter(pk=report.pk).update(**values)


def states(page: Page, at: Callable[[str], None], full: Project) -> Iterator[str]:
    """Brings about one state of the pages after the other."""
    for path in LISTS:
        at(path)
        yield path
    first, second = KeptRun.objects.filter(run__project=full).order_by("pk").values_list("pk", flat=True)
    at(f"runs/compare/?run={second}&before={first}")
    yield "runs compared"
    at(f"settings/members/{full.memberships.get(role='expert').pk}/sections/")
    yield "the sections of an expert"
    sample = Sample.objects.get(kind="calibration")
    for wanted, tier in ((80, full.tiers.get(name="Good ones").pk), (0, "")):
        at(f"quality/calibrations/{sample.pk}/?wanted={wanted}&tier={tier}")
        yield f"a calibration for {wanted} percent"
    at("settings/safety/")
    page.locator("[name=gate-min_clicks]").fill("100")
    with page.expect_navigation():
        page.locator("#gate-form [name=check]").click()
    yield "what a gate would hold"
    page.locator("[name=gate-min_clicks]").fill("")
    with page.expect_navigation():
        page.locator("#gate-form .button--primary").click()
    yield "a gate with a mistake"
    at("settings/safety/")
    page.locator("[name=pair-source]").select_option("Alcohol")
    page.locator("[name=pair-target]").select_option("For children")
    page.locator("[name=pair-reason]").fill("Because.")
    with page.expect_navigation():
        page.locator("#pair-form [name=check]").click()
    yield "what a pair would touch"
    with page.expect_navigation():
        page.locator(".actions a").first.click()
    page.locator("[name=class-name]").fill("")
    with page.expect_navigation():
        page.locator("#class-form").evaluate("(form) => { form.noValidate = true; form.requestSubmit(); }")
    yield "a class with a mistake"
    at("settings/rollout/")
    page.locator("[name=pattern]").fill("/")
    with page.expect_navigation():
        page.locator("[name=check]").click()
    yield "what a roll-out rule does"
    page.locator("[name=pattern]").fill("")
    with page.expect_navigation():
        page.locator("#rule-form .button--primary").click()
    yield "a roll-out rule with a mistake"
    at("settings/members/")
    with page.expect_navigation():
        page.locator("#invitations .button--primary").click()
    yield "an invitation"
    at("quality/alerts/")
    page.locator("details summary").last.click()
    page.locator("[name=near]").fill("0")
    with page.expect_navigation():
        page.locator(".limits").evaluate("(form) => { form.noValidate = true; form.requestSubmit(); }")
    yield "limits with a mistake"


@pytest.mark.parametrize("width", [390, 1440])
def test_every_figure_of_the_overview_is_large_enough_to_be_hit(page, at, full, manager, sign_in, width):
    sign_in(manager)
    page.set_viewport_size({"width": width, "height": 900})
    at("")
    expect(page.locator(".stats")).to_be_visible()
    assert axe.findings(page) == []


@pytest.mark.nightly
def test_nothing_is_found_on_full_pages_and_on_those_with_a_mistake(speaks, page, at, full, manager, sign_in):
    sign_in(manager)
    found = {state: looked_at(page) for state in states(page, at, full)}
    sign_in(full.memberships.get(role="expert").user)
    at("quality/judge/")
    expect(page.locator(".judge__grades")).to_be_visible()
    found["somebody judges a link"] = looked_at(page)
    assert {state: one for state, one in found.items() if one} == {}


@pytest.mark.nightly
def test_nothing_is_found_on_the_way_in_and_on_the_page_of_mails(
    speaks, page, live_server, project, manager, sign_in, settings
):
    settings.OIDC_ISSUER, settings.OIDC_NAME = "https://id.example", "The Identity Provider of Example Company"
    _invitation, token = invitations.invite(project, "editor", "nina@example.com", by=manager)
    found = {}
    page.goto(f"{live_server.url}/login/?next=/p/shop/")
    found["sign in"] = looked_at(page)
    page.locator("[name=username]").fill("nobody")
    page.locator("[name=password]").fill("wrong")
    with page.expect_navigation():
        page.locator("[name=password]").press("Enter")
    found["refused"] = looked_at(page)
    page.goto(f"{live_server.url}/join/?token={token}")
    found["join"] = looked_at(page)
    page.locator("[name=username]").fill("nina")
    page.locator("[name=password1]").fill("short")
    page.locator("[name=password2]").fill("other")
    with page.expect_navigation():
        page.locator("[name=password2]").press("Enter")
    found["an account with a mistake"] = looked_at(page)
    page.context.clear_cookies()
    page.context.add_cookies([{"name": "django_language", "value": speaks, "url": live_server.url}])
    page.goto(f"{live_server.url}/join/?token=unknown")
    found["an invitation that cannot be used"] = looked_at(page)
    sign_in(manager)
    for name, email in (("no mails", ""), ("mails", "manager@example.com")):
        type(manager).objects.filter(pk=manager.pk).update(email=email)
        settings.EMAIL_HOST = "mail.example" if email else ""
        page.goto(f"{live_server.url}/mail/")
        found[name] = looked_at(page)
    assert {state: one for state, one in found.items() if one} == {}


@pytest.mark.nightly
def test_a_double_click_makes_one_rule_and_a_mistake_is_in_sight(page, at, full, manager, sign_in):
    sign_in(manager)
    page.set_viewport_size({"width": 390, "height": 700})
    at("settings/safety/")
    page.locator("#gate-form .button--primary").click()
    expect(page.get_by_text("Say exactly one")).to_be_in_viewport()
    page.locator("[name=gate-min_clicks]").fill("77")
    page.locator("#gate-form [name=check]").click()
    expect(page.get_by_text("Accepted links that would wait")).to_be_in_viewport()
    page.locator("#gate-form .button--primary").dblclick()
    expect(page.get_by_text("now need a second person")).to_be_visible()
    assert Gate.objects.filter(min_clicks=77).count() == 1
    page.locator(".undo button").dblclick()
    expect(page.get_by_text("need nobody else any more")).to_be_visible()
    page.go_back()  # the browser shows the page as it is now
    expect(page.get_by_text("Pages with 77 clicks")).to_have_count(0)
    assert not Gate.objects.filter(min_clicks=77, ended_at=None).exists()
