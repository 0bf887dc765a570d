// The page where keys are changed: what cannot be had is said at once. The server judges it again (tests/review/test_own_keys.py).

import assert from "node:assert/strict";
import { test } from "node:test";

import { element } from "./elements.js";

const ACTIONS = { Accept: "a", Undo: "u", Later: "s" };
let pages = 0;

// The page with the keys of the actions; `early` stands in fields already when the script comes.
async function open(early = {}) {
  const rows = Object.entries(ACTIONS).map(([action, key]) => element("tr", {}, element("label", {}, action), element("input", { name: action, value: key, maxlength: 1 }), element("p", { "data-wrong": "", hidden: true })));
  const sayings = element("template", { "data-sayings": "" }, ...["taken", "digit", "not-ours"].map((name) => element("p", { "data-saying": name }, `${name} {key} {action}`)));
  globalThis.document = Object.assign(element("#document", {}, element("form", { "data-own-keys": "" }, ...rows), sayings), { documentElement: { lang: "en" } });
  const field = (action) => document.querySelector(`[name=${action}]`);
  for (const [action, key] of Object.entries(early)) field(action).value = key;
  await import(`../../static/js/queue/own_keys.js?${pages += 1}`);
  return {
    press: (action, key, more = {}) => field(action).fire("keydown", { key, ...more }),
    value: (action) => field(action).value,
    wrong: (action) => { const { hidden, textContent } = field(action).parent.querySelector("[data-wrong]"); return hidden ? "" : textContent.trim(); },
  };
}

test("a key that is pressed becomes the action's, and one that another has is said", async () => {
  const page = await open();
  page.press("Accept", "z");
  assert.deepEqual([page.value("Accept"), page.wrong("Accept")], ["z", ""]);
  page.press("Accept", "u");
  assert.deepEqual([page.wrong("Accept"), page.wrong("Undo")], ["taken u Undo", ""]);
  page.press("Undo", "y");
  assert.equal(page.wrong("Accept"), "");
});

test("digits, the space bar and keys of the browser stay what they are", async () => {
  const page = await open();
  for (const [key, more, words] of [
    ["3", {}, "digit 3 {action}"], ["F4", {}, "not-ours F4 {action}"], [" ", {}, "not-ours ␣ {action}"], ["c", { ctrlKey: true }, "not-ours Ctrl+c {action}"],
    ["c", { altKey: true }, "not-ours Alt+c {action}"],
  ]) {
    page.press("Accept", key, more);
    assert.deepEqual([page.value("Accept"), page.wrong("Accept")], ["a", words]);
  }
});

test("Tab, Enter and the keys that change a letter are left alone", async () => {
  const page = await open();
  for (const key of ["Tab", "Enter", "Shift", "Backspace", "Delete"]) {
    assert.equal(page.press("Accept", key).isPrevented, false, key);
    assert.equal(page.wrong("Accept"), "");
  }
});

test("what stood in the fields before the script had come is judged by it", async () => {
  const page = await open({ Accept: "u", Later: "3" });
  assert.deepEqual([page.wrong("Accept"), page.wrong("Later"), page.wrong("Undo")], ["taken u Undo", "digit 3 {action}", ""]);
});
