// What other windows and other people have done while the page was open.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const listed = (window) => window.recent.map(({ dataset }) => Number(dataset.edgeId));
const other = (server, edge, verb = "accept") => server.decide(edge, { key: `other ${edge}`, do: `${verb}:follow`, anchor: "" });

// Another window of the browser has saved something.
async function hear(window) {
  for (const listener of window.listeners.storage) listener({ key: "anchorline:saved:7:1" });
  await settle();
}

test("u takes back what was done last, in whichever window", inWindow({ count: 8, perDonor: 8 }, async (window, server) => {
  window.old = [{ edge: 8, decision: 1 }];
  other(server, 8);
  await window.load();
  other(server, 5);
  other(server, 6);
  window.press("a");
  await settle();
  await hear(window);
  assert.deepEqual(listed(window), [1, 6, 5, 8]);
  for (const edge of [1, 6, 5, 8]) {
    window.press("u");
    await settle();
    assert.equal(server.edges.get(edge).state, "suggested", `of ${edge}`);
  }
  other(server, 3);
  window.press("a");
  await settle();
  other(server, 7);
  await hear(window);
  window.press("u");
  await settle();
  assert.deepEqual([3, 7].map((edge) => server.edges.get(edge).state), ["accepted", "suggested"]);
}));

test("the list of the last decisions is full again after those it showed are taken back", inWindow({ count: 40, perDonor: 40 }, async (window, server) => {
  window.press("a".repeat(20));
  await settle();
  window.press("u".repeat(12));
  await settle();
  await window.wait(1000);
  assert.deepEqual(listed(window), [8, 7, 6, 5, 4, 3, 2, 1]);
  assert.equal(window.find("[data-recent-none]").hidden, true);
  window.press("u".repeat(8));
  await settle();
  await window.wait(1000);
  assert.deepEqual([listed(window), window.find("[data-recent-none]").hidden], [[], false]);
  assert.ok(server.states.every((state) => state === "suggested"));
}));

test("what could not be saved keeps its place in the list, and each line is one of one decision", inWindow({ count: 6, perDonor: 6 }, async (window, server) => {
  other(server, 2, "reject");
  window.press("aax");
  window.press("x");
  await settle();
  await hear(window);
  assert.deepEqual(window.recent.map(({ dataset }) => [Number(dataset.edgeId), dataset.result]), [[3, "saved"], [2, "refused"], [1, "saved"], [2, "saved"]]);
  window.press("r");
  assert.equal(window.open, 2);
}));

test("the head of the group and the counts are those of the server, in whichever window something was accepted", inWindow({ count: 8, perDonor: 8 }, async (window, server) => {
  other(server, 7);
  other(server, 8);
  server.headSays = "2";
  await hear(window);
  assert.deepEqual([window.find("[data-accepted]").textContent, window.left, window.today], ["2", 6, 2]);
  window.press("a");
  assert.equal(window.find("[data-accepted]").textContent, "3");
  await settle();
  server.headSays = "3";
  await window.wait(5000);
  assert.equal(window.find("[data-accepted]").textContent, "3");
  window.press("u");
  await settle();
  assert.equal(window.find("[data-accepted]").textContent, "2");
}));

test("the open card that somebody has decided says so within some seconds, and decides nothing", inWindow({ count: 4 }, async (window, server) => {
  other(server, 1);
  await window.wait(5500);
  assert.deepEqual([window.open, window.card.dataset.state, window.said], [1, "accepted", "It was decided elsewhere."]);
  window.press("x");
  assert.equal(window.said, "closed");
  window.press("j");
  assert.equal(window.open, 2);
}));

test("a card that somebody writes in stays, and is said to be decided", inWindow({ count: 4 }, async (window, server) => {
  window.press("e");
  window.press("!");
  other(server, 1);
  await window.wait(5500);
  assert.deepEqual([window.card.dataset.state, window.anchor.includes("!"), window.said], ["suggested", true, "It was decided elsewhere."]);
}));

test("nothing is asked for while something is unsaved, and what comes late is not shown", inWindow({ count: 4 }, async (window, server) => {
  const answer = server.hold("/meanwhile/");
  await hear(window);
  other(server, 4);
  window.press("aa");
  answer();
  await settle();
  assert.equal(window.recent.length, 2);
  const later = server.hold("/operations/");
  window.press("a");
  const before = window.recent.length;
  await window.wait(6000);
  assert.equal(window.recent.length, before);
  later();
}));
