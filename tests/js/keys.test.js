// Which keys do something, and when they rest. That each does its work on a real card is told by tests/browser/queue.

import assert from "node:assert/strict";
import { test } from "node:test";

import { element } from "./elements.js";
import { inWindow, settle } from "./queue.js";

const pressed = (window, key, more) => window.document.activeElement.fire("keydown", { key, ...more });

for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }]) {
  test(`a letter with ${Object.keys(more)} is the browser's`, inWindow({}, async (window, server) => {
    assert.equal(pressed(window, "a", more).isPrevented, false);
    await settle();
    assert.equal(window.open, 1);
    assert.deepEqual(server.said, []);
  }));
}

test("a key that is held down decides one card", inWindow({}, async (window, server) => {
  pressed(window, "a");
  for (let again = 0; again < 4; again += 1) pressed(window, "a", { repeat: true });
  await settle();
  assert.equal(window.open, 2);
  assert.deepEqual(server.said, ["decide 1"]);
}));

test("letters rest in a field, and Enter in it sends its form", inWindow({}, async (window, server) => {
  window.press("e");
  assert.ok(window.document.activeElement.matches("[data-anchor]"));
  window.press("xau");
  assert.equal(window.anchor, "xau");
  assert.deepEqual(server.said, []);
  pressed(window, "Enter", { ctrlKey: true });
  await settle();
  assert.equal(server.edges.get(1).said, "xau");
  assert.match(window.recent[0].querySelector("[data-verb]").textContent, /^Accepted/);
}));

test("Escape leaves a field, what is open and what was typed, and the card has the focus again", inWindow({}, async (window) => {
  window.press("x");
  assert.equal(window.find("[data-reject]").open, true);
  window.press(["Escape", "m"]);
  assert.equal(window.find("[data-reject]").open, false);
  assert.equal(window.find("[data-ask]").open, true);
  window.press(["Escape", "e", ..."nonsense"]);
  window.press(["Escape"]);
  assert.equal(window.find("[data-ask]").open, false);
  assert.equal(window.anchor, "warm boots");
  assert.equal(window.document.activeElement, window.card);
}));

test("keys do nothing to a card that a dialog or an open menu covers", inWindow({}, async (window, server) => {
  window.find("[data-keys]").open = true;
  window.press("ax");
  window.find("[data-keys]").open = false;
  window.find("[data-dialog]").open = true;
  window.press("ax1su");
  await settle();
  assert.equal(window.open, 1);
  assert.deepEqual(server.said, []);
}));

test("keys between Shift+A and its preview do nothing to the card, until it cannot be had", inWindow({}, async (window, server) => {
  const group = element("a", { "data-group": "" });
  window.find("[data-donor-place]").append(group);
  window.press("Aa");
  await window.wait(60_000);
  window.press("a");
  assert.equal(window.open, 1);
  group.fire("htmx:afterRequest", { detail: { successful: false } });
  window.press("a");
  assert.equal(window.open, 2);
}));

test("Escape leaves a preview that is not there yet", inWindow({}, async (window) => {
  window.find("[data-donor-place]").append(element("a", { "data-group": "" }));
  window.press(["A", "Escape", "a"]);
  assert.equal(window.open, 2);
}));

test("x opens the reasons, a digit gives one, x again gives none", inWindow({}, async (window, server) => {
  window.press("x2xx");
  await settle();
  assert.deepEqual(server.requests.flatMap(({ operations }) => operations.map((operation) => operation.do)), ["reject:outdated", "reject"]);
}));

test("j and k move and decide nothing, and stop at the ends", inWindow({}, async (window, server) => {
  const opened = [..."jjjjkkkk"].map((key) => { window.press(key); return window.open; });
  assert.deepEqual(opened, [2, 3, 4, 4, 3, 2, 1, 1]);
  assert.deepEqual(server.said, []);
}));

test("y does nothing to a card without a warning", inWindow({}, async (window, server) => {
  window.press("y");
  await settle();
  assert.deepEqual([window.open, server.said], [1, []]);
}));

test("the second half of a double click decides on no card", inWindow({}, async (window, server) => {
  window.find("[data-do=accept]").click();
  window.find("[data-do=accept]").click({ detail: 2 });
  await settle();
  assert.deepEqual(server.said, ["decide 1"]);
  assert.equal(window.open, 2);
}));

test("keys that were pressed before the script had come are kept, with what was typed into the field that one opened", async () => {
  const card = { matches: () => false };
  const early = [..."ax1"].map((key) => ({ key, target: card, cancelable: false }));
  const letters = [..."e", ..."cosy"].map((key) => ({ key, target: card, cancelable: false }));
  await inWindow({ early: [...early, ...letters] }, async (window, server) => {
    assert.deepEqual(server.states.slice(0, 2), ["accepted", "rejected"]);
    assert.equal(window.open, 3);
    assert.equal(window.anchor, "cosy");
  })();
});

test("a viewer's keys move, and decide nothing", inWindow({ mayDecide: false }, async (window, server) => {
  window.press("ax1suyj");
  await settle();
  assert.equal(window.open, 2);
  assert.deepEqual(server.requests, []);
}));

test("w says how far a rejection reaches while a reason is chosen, and where the link goes otherwise", inWindow({}, async (window) => {
  const [widely, place] = [window.find("[data-widely]"), () => window.find("[data-where]:checked").value];
  const before = place();
  window.press("xw");
  assert.deepEqual([widely.checked, place()], [true, before]);
  window.press("w");
  assert.equal(widely.checked, false);
  window.press(["Escape", "w"]);
  assert.deepEqual([widely.checked, place() === before], [false, false]);
}));

test("what is typed right after m is the question", inWindow({}, async (window) => {
  window.press([..."mwhy here"]);
  assert.equal(window.document.activeElement.value, "why here");
  assert.ok(window.document.activeElement.matches("[name=text]"));
}));
