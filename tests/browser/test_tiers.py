"""The bounds of the tiers as handles on the histogram, by keyboard, by pointer and by their fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.models import Tier
from tests.factories import make_category, make_edge, make_page, make_run

AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text()
FINDINGS = """async () => {
  const { violations } = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly
def test_a_bound_is_moved_by_keys_and_pointer_its_figures_follow_and_saving_can_be_undone(
    project, manager, sign_in, live_server, page
):
    run = make_run(project)
    tiers = list(Tier.objects.filter(project=project, basis="probability").order_by("-lower_bound"))
    highest = tiers[0]
    for value in (highest.lower_bound, highest.lower_bound + 0.01, 0.1):
        tier = next((tier for tier in tiers if tier.lower_bound <= value), None)
        make_edge(project, run=run, probability=value, ranked_by="learned", tier=tier)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{project.slug}/settings/tiers/")
    handle = page.get_by_role("slider", name=f"Lower bound of {highest.name}")
    field, effect = page.locator("input[name=tiers-0-lower_bound]"), page.locator("#tier-effect")
    assert page.get_by_role("slider").count() == len(tiers), "a new tier has none before it has a bound"

    handle.focus()
    page.keyboard.press("ArrowRight")
    effect.get_by_text("The queue").get_by_text("some change their tier").or_(
        effect.get_by_text("would hold")
    ).wait_for()
    moved = round(highest.lower_bound + 0.01, 2)
    assert field.input_value() == str(moved)
    assert handle.get_attribute("aria-valuenow") == str(moved)
    leaves = effect.get_by_role("row").filter(has=page.get_by_role("rowheader", name=highest.name)).get_by_role("cell")
    assert leaves.nth(3).inner_text() == "1"
    page.keyboard.press("End")
    assert field.input_value() == "1"

    place, room = handle.locator(".histogram__tag").bounding_box(), page.locator(".histogram__plot").bounding_box()
    page.mouse.move(place["x"] + 5, place["y"] + 5)
    page.mouse.down()
    page.mouse.move(room["x"] + room["width"] * 0.05, place["y"] + 5, steps=4)
    page.mouse.up()
    assert field.input_value() == "0.05"
    effect.get_by_text("The queue would hold 3 suggestions instead of 2: 1 enter it").wait_for()

    field.fill("0.4")
    assert handle.get_attribute("aria-valuenow") == "0.4", "the handle follows its field"
    assert Tier.objects.get(pk=highest.pk).lower_bound == highest.lower_bound, "nothing is saved yet"
    page.get_by_role("button", name="Save the tiers").click()
    page.get_by_text("Saved.").wait_for()
    assert Tier.objects.get(pk=highest.pk).lower_bound == 0.4
    with page.expect_navigation():  # the page that is left says "Saved." too
        page.get_by_role("button", name="Undo").click()
    page.get_by_text("Saved.").wait_for()
    assert Tier.objects.get(pk=highest.pk).lower_bound == highest.lower_bound
    page.evaluate(AXE)  # above the bounds, the way back
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FINDINGS) == []
    assert complaints == []


@pytest.mark.nightly
def test_bounds_of_their_own_are_handles_too_and_their_figures_follow(project, manager, sign_in, live_server, page):
    run, target = make_run(project), make_page(project, role="product")
    tiers = list(Tier.objects.filter(project=project, basis="probability").order_by("-lower_bound"))
    for place in range(20):
        value = place / 20 + 0.01
        tier = next((tier for tier in tiers if tier.lower_bound <= value), None)
        donor = make_page(project, category=make_category(project, "Magazine", "Tents"))
        make_edge(project, donor, target, run=run, probability=value, ranked_by="learned", tier=tier)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(manager)
    page.goto(f"{live_server.url}/p/{project.slug}/settings/tiers/?basis=probability")
    page.get_by_label("Links from a category, with all below it").select_option(label="Magazine")
    page.get_by_role("button", name="Set bounds for these links").click()
    page.get_by_role("heading", name="Bounds of links from Magazine").wait_for()
    fields = page.locator("fieldset.tier input[type=number]")
    for field in fields.all():
        field.fill("")
    fields.first.fill("0.5")
    page.locator("#tier-effect").get_by_text("The queue would hold").wait_for()
    assert page.get_by_role("slider").count() == 1, "a tier that is not used has none"
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    assert fields.first.input_value() == "0.49"
    _has_no_fault(page)
    page.get_by_role("button", name="Save these bounds").click()
    page.get_by_role("link", name="Change the bounds of links from Magazine").wait_for()
    _has_no_fault(page)
    page.get_by_role("link", name="Change the bounds of links from Magazine").click()
    page.get_by_role("button", name="Show what removing them would do").click()
    page.get_by_text("if these links had no bounds of their own").wait_for()
    page.get_by_role("button", name="Remove these bounds").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="Change the bounds of links from Magazine").wait_for()
    assert not complaints


def _has_no_fault(page) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(AXE)
        assert page.evaluate(FINDINGS) == []
