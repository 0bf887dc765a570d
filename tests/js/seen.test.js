// The browser's Back leads to the card that was open before, as it stands now, and takes nothing back by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const stateOf = (window) => window.card?.dataset.state;

test("Back shows the card before with its decision, which stays, and Forward the card after it", inWindow({}, async (window, server) => {
  window.press("ax1");
  await settle();
  window.back();
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [2, "rejected"]);
  window.back();
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [1, "accepted"]);
  window.back(1);
  await settle();
  window.back(1);
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [3, "suggested"]);
  assert.deepEqual(server.said, ["decide 1", "decide 2"]);
  assert.deepEqual([window.left, window.today], [2, 2]);
}));

test("a card that was passed over is open again, with the words that were typed", inWindow({}, async (window, server) => {
  window.press("e");
  window.find("[data-anchor]").value = "warm boots for snow";
  window.press(["Escape"]);
  window.press("e");
  window.type(" and ice");
  window.find("[data-anchor]").blur();
  const typed = window.anchor;
  window.press("j");
  await settle();
  window.back();
  assert.deepEqual([window.open, window.anchor], [1, typed]);
  window.press("a");
  await settle();
  assert.deepEqual([window.open, server.states[0]], [2, "accepted"]);
}));

test("no key decides the card that Back shows as decided, and j goes on where the editor was", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  window.back();
  window.press("x1"); // before its card has come
  await settle();
  assert.deepEqual([window.open, server.said], [1, ["decide 1"]]);
  window.press("j");
  assert.equal(window.open, 2);
  window.press("k");
  assert.equal(window.open, 2); // it was shown to be read
}));

test("a card that was put off and is seen again does not stay in the list", inWindow({}, async (window, server) => {
  window.press("sa");
  await settle();
  window.back();
  window.back();
  await settle();
  assert.equal(window.open, 1);
  window.press("jk");
  await settle();
  assert.deepEqual([window.open, window.document.querySelectorAll("[data-line]").map(({ dataset }) => dataset.line)], [3, ["4"]]);
  window.back();
  await settle();
  window.press("a"); // it can be decided
  await settle();
  assert.deepEqual([window.open, server.said.at(-1)], [3, "decide 1"]);
}));

test("keys that are pressed behind Back wait for its card", inWindow({ perDonor: 4 }, async (window, server) => {
  window.press("s");
  await settle();
  const answer = server.hold("/queue/1/");
  window.back();
  window.press("n");
  await settle();
  assert.equal(server.edges.get(2).state, "suggested");
  answer();
  await settle();
  assert.deepEqual([server.edges.get(1).rel, server.edges.get(2).state], ["nofollow", "suggested"]);
}));

test("a decision that is not saved yet is saved before its card is shown", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("a");
  window.back();
  await settle();
  assert.equal(window.find("[data-card]").inert, true);
  answer();
  await settle();
  assert.deepEqual([window.open, stateOf(window), window.find("[data-card]").inert], [1, "accepted", false]);
}));

test("u takes back what Back has shown, and its card is open", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  window.back();
  await settle();
  window.press("u");
  await settle();
  assert.deepEqual([window.open, stateOf(window), server.states[0], window.left], [1, "suggested", "suggested", 4]);
  window.press("n");
  await settle();
  assert.deepEqual([window.open, server.edges.get(1).rel], [2, "nofollow"]);
}));

test("the button of the card that Back shows takes back its decision and not a later one", inWindow({}, async (window, server) => {
  window.press("aa");
  await settle();
  window.back();
  window.back();
  await settle();
  window.card.querySelector("[data-undo-card] button").click();
  await settle();
  assert.deepEqual([window.open, stateOf(window), server.states.slice(0, 2)], [1, "suggested", ["suggested", "accepted"]]);
  assert.deepEqual([window.left, window.today], [3, 1]);
}));

test("Esc stays where the editor is when the server does not answer", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.hold("/queue/1/");
  window.back();
  window.press("n");
  window.press(["Escape"]);
  await settle();
  assert.deepEqual([window.open, window.find("[data-card]").inert, server.said], [2, false, ["decide 1"]]);
}));

test("a card that is there no more is said to be gone, and the open one stays", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.edges.delete(1);
  window.back();
  await settle();
  assert.deepEqual([window.open, window.said], [2, "It is gone."]);
}));

test("at the end of the list Back shows the last card, and Forward the end", inWindow({ count: 2 }, async (window) => {
  window.press("aa");
  await settle();
  assert.match(window.find("[data-card]").textContent, /Nothing left/);
  window.back();
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [2, "accepted"]);
  window.back(1);
  await settle();
  assert.match(window.find("[data-card]").textContent, /Nothing left/);
}));

test("what could not be saved is shown as it was left, with its words", inWindow({}, async (window) => {
  window.press("e");
  window.find("[data-anchor]").value = "";
  window.press([..."warm boots and more ".repeat(12), "Enter"]);
  await settle();
  assert.deepEqual([window.open, window.look], [2, "1 needs another look"]);
  window.back();
  await settle();
  assert.deepEqual([window.open, window.look, window.anchor.length], [1, "", 240]);
}));

test("who comes back from another page finds the card they left, and Back leads on", inWindow({}, async (window) => {
  window.press("a");
  await settle();
  window.press("j");
  assert.equal(window.open, 3);
  await window.load({ isBack: true });
  assert.equal(window.open, 3);
  window.back();
  await settle();
  assert.equal(window.open, 2);
  window.back();
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [1, "accepted"]);
}));

test("until the card that was left is there no other is shown, and Esc goes on with the first of the list", inWindow({}, async (window, server) => {
  window.press("jj");
  server.hold("/queue/3/");
  await window.load({ isBack: true });
  assert.equal(window.card, null);
  window.press("a");
  await settle();
  assert.deepEqual(server.said, []);
  window.press(["Escape"]);
  assert.equal(window.open, 1);
}));

test("a page that is loaded again begins with the first of the list, and keys are for it", inWindow({}, async (window, server) => {
  window.press("jj");
  await window.load();
  assert.equal(window.open, 1);
  window.press("a");
  await settle();
  assert.deepEqual(server.said, ["decide 1"]);
  window.back();
  await settle();
  assert.deepEqual([window.open, stateOf(window)], [1, "accepted"]);
}));

test("each card is one entry, however it came to be open, and an undo is one", inWindow({}, async (window) => {
  const before = window.entries.length;
  window.press("j");
  window.press("k");
  window.press("a");
  window.press("u");
  await settle();
  assert.deepEqual(window.entries.states.slice(before - 1).map(({ card }) => card), [1, 2, 1, 2, 1]);
}));

test("a browser that takes no more entries takes decisions all the same", inWindow({}, async (window, server) => {
  window.entries.refuses = true;
  window.press("aa");
  await settle();
  assert.deepEqual([window.open, server.states.slice(0, 2)], [3, ["accepted", "accepted"]]);
}));

test("an entry of something else, as of a link within the page, moves no card", inWindow({}, async (window) => {
  window.press("j");
  window.entries.pushState(null);
  for (const listener of window.listeners.popstate) listener({ state: null });
  assert.equal(window.open, 2);
}));

test("a page that begins with another card than the first has those before it at its end", inWindow({ count: 60, perDonor: 60 }, async (window) => {
  await window.load({ at: 50 });
  for (const edge of [50, 51, 52]) { assert.equal(window.open, edge); window.press("a"); }
  window.press("j".repeat(8));
  assert.equal(window.open, 1);
  await settle();
  window.press("j".repeat(48));
  await settle();
  assert.equal(window.open, 49);
  window.press("j");
  await settle();
  assert.equal(window.open, 49, "and no card comes twice");
}));
