"""The application around the queue in a real browser: every page, light and dark, wide and narrow."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.audit import record
from linker.models import ChangeKind, Run, SensitiveRule, Tier
from tests.factories import embed, make_category, make_edge, make_link, make_member, make_page, make_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORD = "Unbreakable" * 18
PAGES = [
    *("", "pages/", "runs/", "match/", "import/", "queue/", "export/", "settings/", "settings/tiers/"),
    "settings/ranking/",
    *("settings/sensitive/", "settings/exclusions/", "settings/members/"),
]
# The lowest contrast of a text with what is behind it: its ratio, its size and its words.
CONTRAST = """() => {
  const parse = (text) => {
    const n = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3);
    const words = texts.map((node) => node.textContent.trim()).join(" ").trim();
    if (!words || !element.checkVisibility({ opacityProperty: true }) || element.closest(":disabled")) continue;
    if (element.closest(".visually-hidden, .skip, option")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.className} ${words.slice(0, 40)}`);
  }
  return poor;
}"""


@pytest.fixture
def site(project):
    """A project with some of everything, and titles no line can be broken in."""
    category = make_category(project, WORD, "Tents")
    first = make_page(project, f"/a/{WORD}", title=WORD, category=category, clicks=12, body="A word. " * 50)
    second = make_page(project, "/b", title="A plain page", indexable=False)
    embed(first, [1, 0, 0, 0])
    make_link(first, second, WORD)
    make_edge(project, first, second, anchor=WORD)
    make_edge(project, second, make_page(project), score=0.55)
    make_run(project, kind="import_links", status="failed", error=f"Line 3: {WORD} is no address.")
    make_run(project, kind="embed", status="cancelled", report={"embedded": 3})
    return project


@pytest.mark.nightly
def test_every_page_is_readable_fits_its_window_and_breaks_no_policy(site, manager, sign_in, live_server, page):
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(manager)
    rows = [f"pages/{site.pages.first().pk}/", *(f"runs/{run.pk}/" for run in Run.objects.filter(project=site))]
    for path in ["/", *(f"/p/{site.slug}/{path}" for path in [*PAGES, *rows])]:
        page.goto(live_server.url + path)
        if path.endswith("/match/"):
            page.get_by_text("The filters leave").wait_for()
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 844})
            root = "document.documentElement"
            assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), f"{path} scrolls sideways at {width}"
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(CONTRAST) == [], (path, width, scheme)
    assert complaints == []


@pytest.mark.nightly
def test_one_signs_in_by_the_form_lands_where_one_wanted_to_go_and_sees_what_one_may_open(site, live_server, page):
    viewer = make_member(site, "viewer")
    page.goto(f"{live_server.url}/p/{site.slug}/runs/")
    page.get_by_label("Username").fill(viewer.username)
    page.get_by_label("Password").fill("not the password")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.get_by_label("Password").fill("correct horse battery")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/p/{site.slug}/runs/")
    names = ["Overview", "Sources", "Pages", "Review", "Why not?", "Export", "Runs", "Report"]
    expect(page.get_by_role("navigation", name="Project").get_by_role("link")).to_have_text(names)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login/")


@pytest.mark.nightly
def test_the_menu_of_a_narrow_screen_opens_on_demand(site, manager, sign_in, live_server, page):
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/")
    assert page.locator("header").bounding_box()["height"] < 60
    entry = page.get_by_role("link", name="Pages", exact=True)
    expect(entry).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(entry).to_be_visible()
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    entry.click()
    page.wait_for_url("**/pages/")


@pytest.mark.nightly
def test_whatever_the_tab_key_reaches_shows_that_it_has_the_focus(site, manager, sign_in, live_server, page):
    sign_in(manager)
    for path in ("", "pages/", "settings/tiers/"):
        page.goto(f"{live_server.url}/p/{site.slug}/{path}")
        for _ in range(25):
            page.keyboard.press("Tab")
            style = page.evaluate(
                "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]; }"
            )
            focused = page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            assert style == ["solid", "2px"] or focused.startswith("<body"), focused


def test_a_run_is_followed_until_it_has_ended_and_then_left_alone(site, manager, sign_in, live_server, page):
    run = make_run(site, status="running", done=10, total=100, stage="Comparing pages")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/state/") else None)
    page.clock.install()
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/runs/{run.pk}/")
    page.get_by_text("10 of 100").wait_for()
    Run.objects.filter(pk=run.pk).update(done=60)
    page.clock.fast_forward(1500)
    page.get_by_text("60 of 100").wait_for()
    page.get_by_role("button", name="Cancel the run").focus()
    Run.objects.filter(pk=run.pk).update(done=70)
    page.clock.fast_forward(1500)
    page.get_by_text("70 of 100").wait_for()
    assert page.evaluate("document.activeElement.id") == "cancel-run"
    Run.objects.filter(pk=run.pk).update(status="succeeded", report={"edges": 12})
    page.clock.fast_forward(1500)
    page.get_by_text("Links proposed").wait_for()
    count = len(asked)
    page.clock.run_for(10_000)
    page.evaluate("fetch(location.href)")  # whatever was asked before it has been noted by then
    assert len(asked) == count


def test_a_session_that_ends_while_a_run_is_watched_leads_to_the_sign_in_page(
    site, manager, sign_in, live_server, page
):
    run = make_run(site, status="running", done=10, total=100)
    page.clock.install()
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/runs/{run.pk}/")
    page.context.clear_cookies()
    page.clock.fast_forward(1500)
    page.wait_for_url(f"**/login/?next=/p/{site.slug}/runs/{run.pk}/")
    assert page.get_by_label("Password").count() == 1


@pytest.mark.nightly
def test_forms_answer_while_one_chooses_and_types(site, manager, sign_in, live_server, page):
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/match/")
    count = page.locator("#match-count")
    count.get_by_text("leave 2 donors and 2 acceptors").wait_for()
    page.locator("#id_donors-url_pattern").fill("/a/")
    page.keyboard.press("Tab")
    count.get_by_text("leave 1 donor and 2 acceptors").wait_for()
    page.locator("#id_donors-url_pattern").fill("/a(")
    page.keyboard.press("Tab")
    count.get_by_text("cannot be read yet").wait_for()
    page.goto(f"{live_server.url}/p/{site.slug}/settings/exclusions/")
    page.get_by_label("Addresses that match").press_sequentially("/b(")
    page.locator("#matches").get_by_text("Column 3").wait_for()
    page.get_by_label("Addresses that match").fill("/b$")
    page.locator("#matches").get_by_text("Finds 1 of 3 pages").wait_for()


@pytest.mark.nightly
def test_the_settings_work_without_javascript(site, manager, client_for, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    session = client_for(manager).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/p/{site.slug}/settings/tiers/?basis=cosine")
    page.locator("input[name$=lower_bound]").first.fill("0.9")
    page.get_by_role("button", name="Save the tiers").click()
    page.get_by_text("Likely 1 → 0").wait_for()
    assert Tier.objects.get(project=site, basis="cosine", name="Likely").lower_bound == 0.9
    page.goto(f"{live_server.url}/p/{site.slug}/match/")
    page.get_by_role("button", name="Count the pages").click()
    page.get_by_text("leave 2 donors and 2 acceptors").wait_for()
    context.close()


@pytest.mark.nightly
def test_the_explanation_of_a_word_closes_when_the_focus_moves_on(site, manager, sign_in, live_server, page):
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/queue/")
    page.get_by_text("+ Filter").click()
    first, second = page.locator(".queue-words .term").nth(0), page.locator(".queue-words .term").nth(1)
    notes = page.locator(".queue-words .term__note")
    first.focus()
    page.keyboard.press("Enter")
    expect(notes.nth(0)).to_be_visible()
    page.keyboard.press("Tab")
    assert second.evaluate("word => word === document.activeElement")
    expect(notes.nth(0)).to_be_hidden()
    page.keyboard.press("Enter")
    expect(notes.nth(1)).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(notes.nth(1)).to_be_hidden()


@pytest.mark.nightly
def test_nothing_is_squeezed_or_out_of_sight_on_a_phone(site, manager, sign_in, live_server, page):
    name = "Most links to a page with the same anchor"
    record(site, ChangeKind.PROJECT, user=manager, after={name: "https://www.shop.example"})
    places = {"title": 5, "address": 3}
    SensitiveRule.objects.create(
        project=site, word="mountain sickness", word_key="m", state="proposed", proposed=True, pages=200, places=places
    )
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{site.slug}/settings/log/")
    strip = page.locator(".tabs")
    assert strip.evaluate("strip => strip.scrollHeight <= strip.clientHeight"), "no scrollbar stands in it"
    tab = strip.get_by_role("link", name="Log").bounding_box()
    assert tab["x"] >= 0
    assert tab["x"] + tab["width"] <= 390
    assert page.locator(".diff dd").first.bounding_box()["width"] > 140
    page.goto(f"{live_server.url}/p/{site.slug}/settings/sensitive/")
    box, rule = page.locator(".rules__check").bounding_box(), page.locator(".rules tbody th").bounding_box()
    assert abs(box["y"] - rule["y"]) < 12
    assert rule["width"] > 250
    buttons = [button.bounding_box() for button in page.locator(".rules__foot .button").all()]
    assert len({button["y"] for button in buttons}) == 2
