// Keys wait for cards that are on their way, and the list is fetched to its end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const slow = { heldBack: "/deck/" };

test("keys wait while the next cards are fetched, and the lines of the page stay", inWindow({ count: 60, perDonor: 30, ...slow }, async (window, server) => {
  window.press("anx2sa");
  assert.match(window.find("[data-card]").textContent, /fetching/);
  assert.equal(window.find("[data-line]").dataset.line, "2");
  window.answerHeld();
  await settle();
  assert.equal(window.open, 6);
  assert.deepEqual(server.states.slice(0, 6), ["accepted", "accepted", "rejected", "suggested", "accepted", "suggested"]);
  assert.equal(server.edges.get(2).rel, "nofollow");
}));

test("j waits for a card that is on its way", inWindow(slow, async (window, server) => {
  window.press("ja");
  await settle();
  assert.equal(window.open, 1);
  window.answerHeld();
  await settle();
  assert.equal(window.open, 3);
  assert.deepEqual(server.states, ["suggested", "accepted", "suggested", "suggested"]);
}));

test("what is typed behind a key that waits goes into its field, and Enter saves it", inWindow(slow, async (window, server) => {
  window.press([..."ae", ..."my qualm", "Enter", "x", "Enter"]);
  window.answerHeld();
  await settle();
  assert.equal(window.open, 4);
  assert.deepEqual([server.edges.get(2).said.includes("my qualm"), server.states], [true, ["accepted", "accepted", "rejected", "suggested"]]);
}));

test("a line that is opened while its card is fetched takes the keys", inWindow(slow, async (window, server) => {
  window.document.querySelectorAll("[data-line]")[1].click();
  window.press("n");
  window.answerHeld();
  await settle();
  assert.deepEqual(server.states, ["suggested", "suggested", "accepted", "suggested"]);
}));

test("a line opens its card at a click, and leaves one with a key of the browser's to it", inWindow({}, async (window) => {
  const line = window.document.querySelectorAll("[data-line]")[1];
  line.click({ ctrlKey: true });
  assert.equal(window.open, 1);
  line.click();
  assert.equal(window.open, 3);
}));

test("the list is fetched to its end, and keys beyond it do nothing", inWindow({ count: 60, perDonor: 30 }, async (window, server) => {
  for (let edge = 1; edge <= 60; edge += 1) {
    if (!window.open) await settle();
    assert.equal(window.open, edge);
    window.press("a");
  }
  window.press("a");
  await settle();
  assert.match(window.find("[data-card]").textContent, /Nothing left/);
  assert.deepEqual([window.left, server.decisions.length], [0, 60]);
}));

test("a fetch of the next cards that gets no answer ends after a minute and is tried again", inWindow({ count: 60, perDonor: 30, deckFaults: ["silent"] }, async (window) => {
  window.press("a".repeat(30));
  await window.wait(60_000);
  assert.match(window.find("[data-card]").textContent, /fetching/);
  await window.wait(5000);
  assert.equal(window.open, 31);
}));

test("a fetch of the next cards that failed is tried again", inWindow({ count: 60, perDonor: 30, deckFaults: ["unreachable", 500] }, async (window) => {
  window.press("aaa");
  await window.wait(10_000);
  assert.equal(window.open, 4);
}));

test("at an address of a decided card no key decides another", inWindow({}, async (window, server) => {
  server.edges.get(1).state = "rejected";
  await window.load({ at: 1 });
  assert.deepEqual([window.open, window.card.dataset.state], [1, "rejected"]);
  window.press("a");
  assert.equal(window.said, "closed");
  window.press("j");
  assert.equal(window.open, 2);
  await settle();
  assert.deepEqual(server.said, []);
}));

test("who else has the card open is asked after a second and said on it; without an answer work goes on", inWindow({}, async (window, server) => {
  server.names = ["maria"];
  await window.wait(1500);
  assert.equal(window.find("[data-looking]").textContent, "maria is looking");
  server.isOffline = true;
  await window.wait(20_000);
  assert.equal(window.find("[data-looking]"), null);
  window.press("a");
  assert.equal(window.open, 2);
}));
