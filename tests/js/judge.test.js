// The keys of the page where links are judged.

import assert from "node:assert/strict";
import { test } from "node:test";

import { element } from "./elements.js";

const button = (mark, value = "") => element("button", { type: "button", [mark]: value });
const grades = [1, 2, 3].map((place) => button("data-grade", place));
const [donor, target, undo] = ["data-open-donor", "data-open-target", "data-judge-undo"].map((mark) => button(mark));
const note = element("input", { type: "text" });
const body = element("body", {}, ...grades, donor, target, undo, note);
globalThis.document = Object.assign(element("#document", {}, body), { body, activeElement: body });
await import("../../static/js/judge.js");

const NAMES = new Map([[grades[0], "good"], [grades[1], "borderline"], [grades[2], "bad"], [donor, "donor"], [target, "acceptor"], [undo, "undo"]]);
let clicked = [];
for (const [one, name] of NAMES) one.addEventListener("click", () => clicked.push(name));

function press(keys, more = {}, at = body) {
  clicked = [];
  for (const key of keys) at.fire("keydown", { key, ...more });
  return clicked;
}

test("a digit gives a grade, o and t open the pages, and u takes the last judgement back", () => {
  assert.deepEqual(press("123otu"), ["good", "borderline", "bad", "donor", "acceptor", "undo"]);
});

test("other letters and digits do nothing", () => assert.deepEqual(press("49axbO"), []));

for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }, { repeat: true }]) {
  test(`keys with ${Object.keys(more)} judge nothing`, () => assert.deepEqual(press("1ou", more), []));
}

test("keys rest in a field", () => assert.deepEqual(press("1ou", {}, note), []));
