// What every page shares.

import assert from "node:assert/strict";
import { test } from "node:test";

import { element } from "./elements.js";

const messages = element("div", { id: "messages" });
const body = element("body", {}, messages);
const document = Object.assign(element("#document", {}, body), { body, documentElement: { lang: "en" }, getElementById: () => messages, createElement: element });
Object.assign(globalThis, { document, addEventListener: () => {} });
await import("../../static/js/app.js");

const asked = (verb) => {
  const detail = { verb, timeout: 0 };
  document.fire("htmx:configRequest", { detail });
  return detail.timeout;
};

test("what is read ends without an answer, and what is sent does not", () => {
  assert.deepEqual(["get", "post"].map(asked), [120_000, 0]);
});

test("that is said", () => {
  document.fire("htmx:timeout");
  assert.equal(messages.textContent, "unreachable");
});
