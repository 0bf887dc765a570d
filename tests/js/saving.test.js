// What is done is painted at once, kept in the browser, and sent behind it: in order, together, and once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const sizes = (server) => server.requests.map(({ operations }) => operations.length);

test("a decision is painted before the server answers", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("a");
  await settle();
  assert.equal(window.open, 2);
  assert.equal(window.left, 3);
  assert.equal(window.saved, "Saving 1…");
  assert.equal(window.recent[0].dataset.result, "unsaved");
  answer();
  await settle();
  assert.equal(window.saved, "All saved");
  assert.equal(window.recent[0].dataset.result, "saved");
  assert.equal(window.unsaved.length, 0);
}));

test("what is decided while a request is under way goes together in the next", inWindow({ count: 60, perDonor: 30 }, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("aaaaa");
  answer();
  await settle();
  assert.deepEqual(sizes(server), [1, 4]);
  assert.deepEqual(server.said, [1, 2, 3, 4, 5].map((edge) => `decide ${edge}`));
}));

test("no request has more than forty operations", inWindow({ count: 60, perDonor: 60 }, async (window, server) => {
  const answer = server.hold("/operations/");
  await settle();
  window.press("a".repeat(60));
  await settle();
  window.press("a".repeat(60));
  answer();
  await settle();
  assert.ok(Math.max(...sizes(server)) <= 40);
  assert.equal(server.decisions.length, 60);
}));

for (const fault of [500, 503, "unreachable"]) {
  test(`an answer of ${fault} is tried again, and said meanwhile`, inWindow({}, async (window, server) => {
    server.faults = [fault];
    window.press("a");
    await settle();
    assert.equal(window.state, "offline");
    assert.equal(window.saved, "1 not saved: no connection");
    assert.equal(window.open, 2);
    await window.wait(1000);
    assert.equal(window.saved, "All saved");
    assert.deepEqual(server.said, ["decide 1"]);
  }));
}

test("a decision that meets another change being saved is kept, said to wait, and sent again by itself", inWindow({}, async (window, server) => {
  server.faults = ["busy", "busy"];
  window.press("a");
  await settle();
  assert.equal(window.state, "busy");
  assert.equal(window.saved, "1 not saved yet");
  assert.equal(window.unsaved.length, 1);
  await window.wait(1000);
  assert.equal(window.state, "busy");
  await window.wait(2000);
  assert.equal(window.saved, "All saved");
  assert.deepEqual(server.said, ["decide 1"]);
}));

test("attempts grow rarer, and begin at once when the connection is back", inWindow({}, async (window, server) => {
  server.isOffline = true;
  window.press("ax1");
  await settle();
  await window.wait(60_000);
  assert.ok(server.requests.length < 10, String(server.requests.length));
  assert.equal(window.saved, "2 not saved: no connection");
  assert.equal(window.look, "");
  server.isOffline = false;
  for (const listener of window.listeners.online) listener();
  await settle();
  assert.equal(window.saved, "All saved");
  assert.deepEqual(server.states, ["accepted", "rejected", "suggested", "suggested"]);
}));

test("a request that gets no answer ends after a minute and is sent again", inWindow({}, async (window, server) => {
  server.faults = ["silent"];
  window.press("a");
  await window.wait(59_000);
  window.press("x1");
  assert.equal(window.saved, "Saving 2…");
  await window.wait(1500);
  assert.equal(window.saved, "2 not saved: no connection");
  await window.wait(1000);
  assert.equal(window.saved, "All saved");
  assert.deepEqual(server.said, ["decide 1", "decide 2"]);
}));

test("an answer that is lost is asked for again, and nothing is done twice", inWindow({}, async (window, server) => {
  server.faults = ["lost"];
  window.press("a");
  await settle();
  assert.equal(window.state, "offline");
  window.press("u");
  await window.wait(1000);
  assert.deepEqual(server.said, ["decide 1", "undo"]);
  assert.deepEqual(server.states[0], "suggested");
  assert.deepEqual([window.look, window.open], ["", 1]);
}));

test("an operation that cannot be read is found and marked, and the others are saved", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("a");
  window.card.querySelector("[name=run]").value = "none";
  window.press("aa");
  answer();
  await settle();
  assert.deepEqual(server.states, ["accepted", "suggested", "accepted", "suggested"]);
  assert.equal(window.marked.length, 1);
  assert.match(window.marked[0].textContent, /Target 1.*It cannot be read/);
  assert.equal(window.look, "1 needs another look");
  assert.equal(window.open, 4);
}));

test("where others are saving at the moment, that is said, and it is tried again", inWindow({}, async (window, server) => {
  server.faults = ["busy"];
  window.press("a");
  await settle();
  assert.equal(window.state, "busy");
  await window.wait(1000);
  assert.deepEqual([window.saved, server.said], ["All saved", ["decide 1"]]);
}));

test("where the session has ended, all is kept and saved once the user is in again", inWindow({}, async (window, server) => {
  server.faults = [403, 403];
  window.press("ane");
  await settle();
  assert.equal(window.state, "signed out");
  assert.match(window.saved, /2 not saved: signed out/);
  assert.ok(window.find("[data-saved] a"), "with a link to sign in");
  assert.ok(window.document.activeElement.matches("[data-anchor]"), "who writes is not disturbed");
  await window.wait(4000);
  assert.equal(window.saved, "All saved");
}));

test("what one person decided is not saved under another's name, and waits", inWindow({}, async (window, server) => {
  server.user = 8;
  window.press("a");
  await settle();
  assert.equal(window.state, "another");
  window.press("x1");
  assert.match(window.saved, /^2 not saved: somebody else/);
  server.user = 7;
  await window.wait(4000);
  assert.equal(window.saved, "All saved");
  assert.ok(server.requests.every(({ by }) => by === 7));
}));

test("who is no longer a member learns it, and saves when they are back", inWindow({}, async (window, server) => {
  server.faults = [404];
  window.press("a");
  await settle();
  assert.equal(window.state, "removed");
  await window.wait(1000);
  assert.equal(window.saved, "All saved");
}));

test("a newer token, of a sign-in in another window, goes with the request", inWindow({}, async (window) => {
  const sent = [];
  const through = globalThis.fetch;
  globalThis.fetch = (address, options = {}) => { sent.push(options.headers?.["X-CSRFToken"]); return through(address, options); };
  window.press("a");
  await settle();
  window.document.cookie = "a=b; csrftoken=newer";
  window.press("a");
  await settle();
  assert.deepEqual(sent.filter(Boolean), ["token", "newer"]);
}));

test("trouble with saving is said once, and that all is saved again; no decision is", inWindow({}, async (window, server) => {
  const heard = [];
  const region = window.find("[data-said]");
  const put = region.replaceChildren.bind(region);
  region.replaceChildren = (...words) => { if (words.length) heard.push(words[0]); put(...words); };
  server.faults = [null, "unreachable", "unreachable"];
  window.press("a");
  await settle();
  window.press("n");
  await settle();
  await window.wait(4000);
  assert.deepEqual(heard, ["Accepted: warm boots", "Accepted: warm boots", "1 not saved: no connection", "All saved"]);
}));

test("the counts are the server's once all is saved, and those of the menu too", inWindow({}, async (window, server) => {
  server.edges.get(4).state = "rejected"; // by somebody else
  window.press("a");
  assert.equal(window.left, 3);
  await settle();
  assert.equal(window.left, 2);
  assert.equal(window.find("[data-today]").textContent, "1");
  assert.equal(window.find("[data-count]").textContent, "1");
}));

test("a card that another decision has changed is shown as it is now, but not one that is being changed", inWindow({}, async (window, server) => {
  Object.assign(server.edges.get(2), { anchor: "other words", isChanged: true });
  Object.assign(server.edges.get(3), { anchor: "more words", isChanged: true });
  const answer = server.hold("/operations/");
  window.press("ae");
  answer();
  await settle();
  assert.equal(window.anchor, "warm boots");
  window.press(["Escape", "j"]);
  assert.equal(window.anchor, "more words");
}));

test("what a rejection rules out leaves the list, but for the open card, until it is undone", inWindow({}, async (window, server) => {
  server.hides = { 1: [2, 3] };
  window.press("x1");
  await settle();
  assert.equal(window.open, 2);
  window.press("j");
  assert.equal(window.open, 4);
  window.press("ku");
  await settle();
  const opened = [..."jjj"].map((key) => { window.press(key); return window.open; });
  assert.deepEqual([window.left, ...opened], [4, 3, 2, 4]);
}));

test("a reason that closes the donor takes its cards away at once, also those that come later, until it is undone", inWindow({ count: 60, perDonor: 30 }, async (window) => {
  window.press("x5");
  assert.equal(window.open, 0); // none of another donor has come yet
  await settle();
  assert.equal(window.open, 31);
  window.press("u");
  await settle();
  assert.equal(window.open, 1);
  window.press("j");
  assert.equal(window.open, 2);
}));

test("a rejection holds for as long as the last one did", inWindow({}, async (window) => {
  window.press("x");
  window.card.querySelector("[name=reach][value=days]").click();
  window.press("1");
  assert.equal(window.card.querySelector("[name=reach][value=days]").checked, true);
}));

test("where the words of a link are the acceptor's name, the list of the last decisions says them once", inWindow({}, async (window, server) => {
  window.press("a");
  const [line] = window.recent;
  assert.deepEqual([line.querySelector("[data-to]").hidden, line.querySelector("[data-target]").textContent], [false, "Target 0"]);
  window.press("e");
  window.find("[data-anchor]").value = "";
  window.press([..."Target 1", "Enter"]);
  assert.equal(window.recent[0].querySelector("[data-to]").hidden, true);
}));
