// What scripts say is on the page, in the reader's language.

import assert from "node:assert/strict";
import { test } from "node:test";

import { element } from "./elements.js";

const body = element("body", {}, element("template", { "data-sayings": "" }, element("p", { "data-saying": "kept" }, " {count} kept for {name} ")),
  element("template", { "data-sayings": "" }, element("p", { "data-saying": "look.one" }, "one"), element("p", { "data-saying": "look.many" }, "{count}, {unknown}")));
globalThis.document = Object.assign(element("#document", {}, body), { documentElement: { lang: "de" } });
const { counted, saying } = await import("../../static/js/sayings.js");

test("placeholders are filled in, from whichever template has the words", () => {
  assert.equal(saying("kept", { count: 2, name: "<b>" }), "2 kept for <b>");
});

test("one and many are told apart, and numbers are written as the language does", () => {
  assert.deepEqual([counted("look", 1), counted("look", 12345)], ["one", "12.345, {unknown}"]);
});

test("words that are missing are named", () => assert.equal(saying("missing"), "missing"));
