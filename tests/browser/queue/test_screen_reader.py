"""What a screen reader finds on the queue: names, roles and their order, and what is said of a decision."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.queue.screen import card, expect_open, expect_saved, expect_state, press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


CARD = """
- article "Link from Donor 1 to Target 1":
  - heading "Link from Donor 1 to Target 1" [level=3]
  - paragraph: /score/
  - blockquote
  - heading "Target 1" [level=4]:
    - link "Target 1"
  - textbox "Anchor": warm boots
  - group "Other anchors":
    - radio "snow boots H1"
    - radio "dry boots H1"
  - group "Where":
    - radio "In the text" [checked]
    - radio "In the list at the end"
    - radio "Content gap"
  - button "Accept in the text, follow"
  - button "as nofollow"
  - button "as ugc"
  - group: Reject…
  - group: Ask…
  - button "Later"
  - link "Read the pages"
"""
BAR = """
- group: To review 3
- progressbar "Decided"
- text: 1 today All saved
- list "Filters"
- group: + Filter
- search:
  - searchbox "Search"
- button "Undo"
- group: Keys
"""
SIDE = """
- complementary "Pages and last decisions":
  - region "Your last decisions":
    - heading "Your last decisions" [level=2]
    - list:
      - listitem:
        - 'link "Accepted, in the text: warm boots → Target 0"'
        - button "Undo warm boots"
"""
REASONS = """
- group:
  - text: Reject…
  - group "For how long":
    - radio "for good" [checked]
    - radio "until either page changes"
    - radio "for 90 days"
  - button /^No reason/
  - button /^Not relevant/
"""
PREVIEW = """
- dialog "Accept a group":
  - heading "Accept 1 suggestion on this page?" [level=2]
  - paragraph: "Where they go: 1 in the text"
  - list:
    - listitem:
      - checkbox /^warm boots → Target 1/ [checked]
  - button "Accept checked"
  - link "Cancel"
"""


@pytest.mark.nightly
def test_what_is_open_reads_in_order_each_part_by_its_name_and_no_key_is_part_of_one(at_queue, edges):
    press(at_queue, "a")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    expect(card(at_queue)).to_match_aria_snapshot(CARD)
    expect(at_queue.locator("[data-bar]")).to_match_aria_snapshot(BAR)
    expect(at_queue.locator(".review__side")).to_match_aria_snapshot(SIDE)
    press(at_queue, "x")
    expect(card(at_queue).locator("[data-reject]")).to_match_aria_snapshot(REASONS)
    press(at_queue, ("Escape", "Shift+A"))
    expect(at_queue.get_by_role("dialog")).to_be_visible()
    expect(at_queue.get_by_role("dialog")).to_match_aria_snapshot(PREVIEW)
    keys = at_queue.locator("[data-do=accept], [data-group]")
    spoken = keys.evaluate_all("all => all.map((one) => one.getAttribute('aria-keyshortcuts'))")
    assert spoken == ["Shift+A", "a"]


@pytest.mark.nightly
def test_each_decision_is_said_once_in_regions_that_stay_and_trouble_with_saving_too(at_queue, edges):
    regions = "[...document.querySelectorAll('main [role=status], main [aria-live]')]"
    assert at_queue.evaluate(f"(window.before = {regions}).length") >= 3
    at_queue.evaluate("""() => {
      window.heard = [];
      for (const region of document.querySelectorAll("main :is([role=status], [role=alert], [aria-live])")) {
        new MutationObserver(() => { if (region.textContent.trim()) window.heard.push(region.textContent.trim()); })
          .observe(region, { childList: true, characterData: true, subtree: true });
      }
    }""")
    at_queue.wait_for_load_state("networkidle")
    for keys, says in (("a", "Accepted"), ("x1", "Rejected"), ("u", "Undone"), ("s", "Later")):
        press(at_queue, keys)
        expect(at_queue.locator("[data-said]")).to_have_text(f"{says}: warm boots")
    expect_saved(at_queue)
    at_queue.context.set_offline(True)
    press(at_queue, "n")
    expect_state(at_queue, "offline")
    at_queue.context.set_offline(False)
    expect_saved(at_queue)
    assert at_queue.evaluate("window.heard") == [
        "Accepted: warm boots",
        "Rejected: warm boots",
        "Undone: warm boots",
        "Later: warm boots",
        "Accepted: warm boots",
        "1 not saved: no connection",
        "All saved",
    ]
    assert at_queue.evaluate(f"{regions}.every((region, at) => region === window.before[at])")
