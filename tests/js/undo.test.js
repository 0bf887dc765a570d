// Undo: painted at once, whichever decision it is, and later keys are for the card that comes back.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

test("what was not sent yet is never sent", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("aau");
  assert.equal(window.open, 2);
  answer();
  await settle();
  assert.deepEqual(server.said, ["decide 1"]);
}));

test("what is under way is taken back after it, and later keys are for its card", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("au");
  assert.deepEqual([window.open, window.left], [1, 4]);
  answer();
  await settle();
  assert.deepEqual(server.said, ["decide 1", "undo"]);
  assert.equal(window.open, 1);
  window.press("n");
  await settle();
  assert.equal(server.edges.get(1).rel, "nofollow");
}));

test("the undo of what is under way names the decision too, since another window may have saved it under another key", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("au");
  answer();
  await settle();
  const [{ key }] = server.requests[0].operations;
  const { kind, of, decision } = server.requests[1].operations[0];
  assert.deepEqual([kind, of, decision], ["undo", key, 1]);
}));

test("an undo is painted before the server answers", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.hold("/operations/");
  window.press("nu");
  await settle();
  assert.deepEqual([window.open, window.recent.length, server.requests.length], [2, 1, 2]);
}));

test("the order of what was done is kept", inWindow({}, async (window, server) => {
  window.press("auaau");
  assert.equal(window.left, 3);
  await settle();
  assert.deepEqual(server.states, ["accepted", "suggested", "suggested", "suggested"]);
  assert.deepEqual(server.decisions.filter(({ isUndone }) => !isUndone).map(({ edge }) => edge), [1]);
}));

test("u and then a or x decides the card that came back", inWindow({}, async (window, server) => {
  window.press("anux2");
  assert.equal(window.open, 3);
  await settle();
  assert.deepEqual(server.states, ["accepted", "rejected", "suggested", "suggested"]);
  window.press("ux1");
  await settle();
  assert.equal(server.states[1], "rejected");
  assert.equal(server.requests.at(-1).operations.at(-1).do, "reject:irrelevant");
}));

test("what was set aside or asked about is taken back in its own way", inWindow({}, async (window, server) => {
  window.press("s");
  await settle();
  window.press("um");
  window.find("[data-ask-form]").requestSubmit();
  await settle();
  window.press("u");
  await settle();
  assert.deepEqual(server.said, ["aside 1", "back 1", "ask 1", "unask 1"]);
  assert.equal(window.open, 1);
}));

test("the note of a rejection that was undone is not that of the next", inWindow({}, async (window, server) => {
  window.press("x");
  window.find("[data-reject-form] [name=note]").focus();
  window.press([..."old", "Enter"]);
  window.press("uxx");
  await settle();
  assert.deepEqual(server.requests.at(-1).operations.at(-1).note, "");
}));

test("the last ten are shown, all of this page can be undone, and any of them alone", inWindow({ count: 60, perDonor: 30 }, async (window, server) => {
  window.press("a".repeat(15));
  assert.equal(window.recent.length, 10);
  await settle();
  window.recent[3].querySelector("button").click();
  assert.equal(window.open, 12);
  await settle();
  assert.equal(server.states[11], "suggested");
  window.press("a" + "u".repeat(15));
  assert.equal(window.open, 1);
  await settle();
  assert.ok(server.states.every((state) => state === "suggested"));
}));

test("the button of the bar undoes as u does", inWindow({}, async (window, server) => {
  window.press("a");
  window.find("[data-undo-last] button").click();
  await settle();
  assert.deepEqual([window.open, server.states[0]], [1, "suggested"]);
}));

test("with nothing left to undo it says so", inWindow({}, async (window) => {
  window.press("u");
  await settle();
  assert.equal(window.said, "There is no decision of yours left to undo.");
  assert.equal(window.open, 1);
}));

test("what was decided before the page was loaded comes back, and later keys wait for it, with its donor", inWindow({ count: 6 }, async (window, server) => {
  window.press("aa");
  await settle();
  window.old = [{ edge: 2, decision: 2 }, { edge: 1, decision: 1 }];
  await window.load();
  assert.equal(window.open, 3);
  assert.match(window.find("[data-donor-place]").textContent, /Donor 2/);
  const answer = server.hold("/operations/");
  window.press("un");
  assert.equal(window.open, 3);
  await window.wait(1000);
  assert.equal(window.said, "waits-for-card");
  answer();
  await settle();
  assert.equal(window.open, 3); // "n" decided the one that came back
  assert.deepEqual([server.edges.get(2).rel, server.states[2]], ["nofollow", "suggested"]);
  window.press("u");
  assert.equal(window.open, 2);
  assert.match(window.find("[data-donor-place]").textContent, /Donor 1/);
}));

test("two old decisions that are undone at once both come back", inWindow({}, async (window, server) => {
  window.press("aa");
  await settle();
  window.old = [{ edge: 2, decision: 2 }, { edge: 1, decision: 1 }];
  await window.load();
  for (const line of window.recent) line.querySelector("button").click();
  assert.equal(window.find("[data-recent]").children.length < 2, true);
  await settle();
  assert.deepEqual([window.left, window.open, window.recent.length], [4, 1, 0]);
  window.press("j");
  assert.equal(window.open, 2);
}));

test("more can be undone after a reload than the list of the last shows", inWindow({ count: 60, perDonor: 30 }, async (window, server) => {
  window.press("a".repeat(12));
  await settle();
  window.old = Array.from({ length: 10 }, (_, at) => ({ edge: 12 - at, decision: 12 - at }));
  await window.load();
  window.press("u".repeat(12));
  for (let turn = 0; turn < 12; turn += 1) await settle();
  assert.equal(window.open, 1);
  assert.ok(server.states.every((state) => state === "suggested"));
}));

test("an undo that is refused is marked, its card closes where it is, and no key meant for it decides another", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.edges.get(1).state = "exported";
  window.press("u");
  await settle();
  assert.equal(window.marked.length, 1);
  assert.deepEqual([window.open, window.card.dataset.state], [1, "exported"]);
  window.press("aja");
  assert.equal(window.open, 3);
  await settle();
  assert.deepEqual(server.states, ["exported", "accepted", "suggested", "suggested"]);
}));

test("after a reload, a key behind an undo that is refused does not decide the next card", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  window.old = [{ edge: 1, decision: 1 }];
  server.edges.get(1).state = "exported";
  await window.load();
  window.press("un");
  await settle();
  assert.deepEqual([window.open, window.said], [1, "closed"]);
  assert.deepEqual(server.states, ["exported", "suggested", "suggested", "suggested"]);
}));

test("who writes in a card is not thrown out of the field by an undo that is refused", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.edges.get(1).state = "exported";
  const answer = server.hold("/operations/");
  window.press([..."ue", ..."a "]);
  answer();
  await settle();
  window.press("jacket");
  assert.equal(window.anchor, "a jacket");
}));

test("reasons that are open stay open when the answer to an undo brings another run", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("aux");
  server.edges.get(1).run = 2;
  answer();
  await settle();
  assert.equal(window.find("[data-reject]").open, true);
  window.press("1");
  assert.equal(window.open, 2);
}));

test("without a connection, Esc leaves a card that does not come back, and drops the keys that waited", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  window.old = [{ edge: 1, decision: 1 }];
  await window.load();
  server.isOffline = true;
  window.press("un");
  await window.wait(1000);
  assert.equal(window.said, "waits-for-card");
  window.press(["Escape"]);
  assert.equal(window.said, "gave-up");
  window.press("a");
  assert.equal(window.open, 3);
  server.isOffline = false;
  await window.wait(20_000);
  assert.deepEqual(server.states, ["suggested", "accepted", "suggested", "suggested"]);
  window.press("j");
  assert.equal(window.open, 1);
}));

test("the donor's head counts what was accepted, and less what was taken back", inWindow({ count: 40, perDonor: 30 }, async (window) => {
  const shown = () => Number(window.find("[data-accepted]").textContent);
  window.press("aaas");
  assert.equal(shown(), 3);
  window.press("uu");
  assert.equal(shown(), 2);
  await settle();
  window.press("a".repeat(29));
  assert.equal(shown(), 1); // of the second donor
}));

const OF_A_FILE = { old: [{ edge: 1, decision: 7, together: 22 }, { edge: 2, decision: 6, together: 22 }] };

test("the first u says how many decisions were made together with the newest, and the second takes them back", inWindow(OF_A_FILE, async (window, server) => {
  window.press("u");
  await settle();
  assert.deepEqual([server.requests.length, window.recent.length], [0, 2]);
  assert.match(window.said, /u again takes all 22 back/);
  window.press("u");
  await settle();
  const [{ kind, decision, whole }] = server.requests[0].operations;
  assert.deepEqual([kind, decision, whole], ["undo", 7, 1]);
}));

test("a few that were made together are taken back at once", inWindow({ old: [{ edge: 1, decision: 7, together: 10 }] }, async (window, server) => {
  window.press("u");
  await settle();
  assert.deepEqual(server.requests[0].operations.map(({ kind, whole }) => [kind, whole]), [["undo", 1]]);
}));

test("a decision of one's own in between is taken back first, and the file is asked about again", inWindow(OF_A_FILE, async (window, server) => {
  window.press("ua");
  await settle();
  window.press("uu");
  await settle();
  assert.deepEqual(server.said, ["decide 1", "undo"]);
}));

test("a line of the last decisions names the donor", inWindow({ count: 4 }, async (window) => {
  window.press("aaa");
  assert.deepEqual(window.recent.map((line) => line.querySelector("[data-donor]").textContent), ["Donor 2", "Donor 1", "Donor 1"]);
}));
