// Leaving the page with work that is not saved: it is there when the editor comes back, and other windows offer it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Kept } from "./elements.js";
import { inWindow, settle, Window } from "./queue.js";

// Two decisions, neither of which reaches the server.
async function cutOff(window, server) {
  server.faultOf = () => "unreachable";
  window.press("ax1");
  await settle();
  assert.equal(window.state, "offline");
}

// Another window of the same browser, opened when the first is gone, or beside it.
async function openAnother(window, { isGone = true, ...options } = {}) {
  if (isGone) for (const name of Object.keys(window.kept)) if (name.startsWith("anchorline:alive:")) delete window.kept[name];
  const other = new Window(window.server, { kept: window.kept, ...options });
  window.number = 0; // whatever it waits for does not come
  await other.load();
  return other;
}

const isOffered = (window) => !window.find("[data-offer]").hidden;

test("what another window left and the server refuses for good is offered once", inWindow({}, async (window, server) => {
  server.edges.get(1).state = "rejected";
  window.press("a");
  await settle();
  const other = await openAnother(window);
  assert.equal(isOffered(other), true);
  other.find("[data-offer-save]").fire("click");
  assert.deepEqual([isOffered(other), other.look, other.saved], [false, "1 needs another look", "1 came back"]);
  other.press("r");
  await settle();
  assert.equal(other.card.dataset.state, "rejected");
  const third = await openAnother(other);
  assert.deepEqual([isOffered(third), third.look, third.saved], [false, "", "All saved"]);
}));

test("a reload loses nothing", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  await window.load();
  assert.deepEqual([window.open, window.recent.length, window.left], [3, 2, 2]);
  server.faultOf = null;
  await window.load();
  await settle();
  assert.equal(window.saved, "All saved");
  assert.deepEqual(server.states, ["accepted", "rejected", "suggested", "suggested"]);
  assert.equal(server.decisions.length, 2);
}));

test("after a reload u takes back the newest, and later keys are for its card", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  await window.load();
  window.press("u");
  server.faultOf = null;
  await window.wait(5000);
  assert.equal(window.open, 2);
  window.press("n");
  await window.wait(5000);
  assert.deepEqual(server.states, ["accepted", "accepted", "suggested", "suggested"]);
  assert.equal(server.edges.get(2).rel, "nofollow");
}));

test("who leaves while a key waits for its card is asked", inWindow({}, async (window, server) => {
  const isAsked = () => {
    let asked = false;
    for (const listener of window.listeners.beforeunload) listener({ preventDefault: () => { asked = true; } });
    return asked;
  };
  await cutOff(window, server);
  await window.load();
  window.press("u");
  assert.equal(isAsked(), false);
  window.press("a");
  assert.equal(isAsked(), true);
  server.faultOf = null;
  await window.wait(5000);
  await settle();
  assert.equal(isAsked(), false);
  assert.equal(server.states[1], "accepted");
}));

test("who leaves with words that are typed and not sent is asked, on whichever card, and not where none are typed", inWindow({}, async (window) => {
  const isAsked = () => {
    let asked = false;
    for (const listener of window.listeners.beforeunload) listener({ preventDefault: () => { asked = true; } });
    return asked;
  };
  window.press(["1", "e", "Escape"]);
  assert.equal(isAsked(), false);
  window.press(["e", "!", "Tab"]);
  assert.equal(isAsked(), true);
  window.document.activeElement.blur();
  window.press("j");
  assert.deepEqual([window.open, isAsked()], [2, true]);
  window.press("ka");
  await settle();
  assert.equal(isAsked(), false, "they are saved");
  window.press("x");
  window.find("[data-reject-form] [name=note]").focus();
  window.press("why");
  assert.equal(isAsked(), true);
}));

test("of more than go in one request, the newest comes back at once after a reload", inWindow({ count: 60, perDonor: 60 }, async (window, server) => {
  server.faultOf = () => 500;
  await settle();
  window.press("a".repeat(25));
  await settle();
  window.press("a".repeat(17));
  await settle();
  await window.load();
  window.press("u");
  await settle();
  assert.equal(window.open, 42);
  server.faultOf = null;
  await window.wait(20_000);
  assert.equal(server.states.filter((state) => state === "accepted").length, 41);
}));

test("after a reload the bar counts each decision once, whether or not the server has it already", inWindow({}, async (window, server) => {
  server.faults = ["lost"]; // saved, and not heard of
  window.press("a");
  await settle();
  server.isOffline = true;
  window.press("x1s");
  await window.load();
  assert.deepEqual([server.decisions.length, window.saved], [1, "3 not saved: no connection"]);
  assert.deepEqual([window.left, window.today], [1, 2]);
  server.isOffline = false;
  await window.wait(20_000);
  assert.deepEqual([window.saved, window.left, window.today], ["All saved", 1, 2]);
}));

test("what was taken back before a reload is open after it", inWindow({}, async (window, server) => {
  server.faultOf = () => "unreachable";
  window.press("as");
  await settle();
  window.press("uu");
  assert.equal(window.open, 1);
  await window.load();
  assert.deepEqual([window.open, window.recent.length, window.left], [1, 0, 4]);
}));

test("what was decided just before leaving is sent with the page, with what is under way, and kept until it is answered", inWindow({}, async (window, server) => {
  server.hold("/operations/");
  window.press("aa");
  window.leave();
  assert.deepEqual(server.requests.map(({ operations }) => operations.map(({ edge }) => edge)), [[1], [1, 2]]);
  assert.equal(window.unsaved.length, 1);
}));

test("a page that was made while a decision was saved does not show its card as open", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("a");
  await settle();
  const made = window.load({ open: [1, 2, 3, 4] }); // before the server has it
  answer();
  await made;
  await settle();
  assert.equal(server.states[0], "accepted");
  assert.equal(window.open, 2);
}));

test("what a window that is gone has left is offered and saved, and its cards are not open any more", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  const other = await openAnother(window);
  assert.deepEqual([isOffered(other), other.find("[data-offer-says]").textContent, other.open], [true, "2 were never saved: Accepted, warm boots to Target 0; Rejected, warm boots to Target 1", 1]);
  assert.equal(server.decisions.length, 0);
  server.faultOf = null;
  other.find("[data-offer-save]").click();
  await settle();
  assert.deepEqual(server.states, ["accepted", "rejected", "suggested", "suggested"]);
  assert.deepEqual([isOffered(other), other.open, other.recent.length, other.look, other.unsaved.length], [false, 3, 2, "", 0]);
}));

test("of many that a window that is gone has left three are named, and how many others there are", inWindow({ count: 8, perDonor: 8 }, async (window, server) => {
  server.faultOf = () => "unreachable";
  window.press("asaaa");
  await settle();
  const other = await openAnother(window);
  const named = "Accepted, warm boots to Target 0; Later, warm boots to Target 1; Accepted, warm boots to Target 2";
  assert.equal(other.find("[data-offer-says]").textContent, `5 were never saved: ${named}; 2 others`);
}));

test("it can be discarded", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  const other = await openAnother(window);
  server.faultOf = null;
  other.find("[data-offer-discard]").click();
  await settle();
  assert.deepEqual([isOffered(other), other.unsaved.length, other.open, server.decisions.length], [false, 0, 1, 0]);
}));

test("a window that is still open is left alone, and one that has crashed is offered after a while", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  const other = await openAnother(window, { isGone: false });
  assert.deepEqual([isOffered(other), other.unsaved.length, other.open], [false, 1, 1]);
  await other.wait(12_000); // in which the first does not say that it is there
  assert.equal(isOffered(other), true);
}));

test("what another editor, or another project, has left is not offered", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  for (const owner of ["8:1", "7:2"]) assert.equal(isOffered(await openAnother(window, { owner })), false, owner);
}));

test("a tab keeps its name over a reload, and a copy of one that is open takes a new one", inWindow({}, async (window) => {
  const name = window.tab["anchorline:tab"];
  await window.load();
  assert.equal(window.tab["anchorline:tab"], name);
  const copy = await openAnother(window, { isGone: false, tab: Object.assign(new Kept(), window.tab) });
  assert.notEqual(copy.tab["anchorline:tab"], name);
}));

test("a storage that holds nonsense is a storage that holds nothing", inWindow({}, async (window, server) => {
  await cutOff(window, server);
  window.kept[window.unsaved[0]] = "{";
  const other = await openAnother(window);
  assert.equal(isOffered(other), false);
}));

for (const [button, look] of [["[data-offer-save]", "1 needs another look"], ["[data-offer-discard]", ""]]) {
  test(`what a window that is gone had refused is offered in the next: ${button}`, inWindow({}, async (window, server) => {
    window.press("e");
    window.find("[data-anchor]").value = "";
    window.press([..."warm boots and more ".repeat(12), "Enter"]);
    await settle();
    const other = await openAnother(window);
    assert.deepEqual([isOffered(other), other.open], [true, 1]);
    other.find(button).click();
    assert.deepEqual([other.look, other.recent.length, isOffered(other)], [look, look ? 1 : 0, false]);
  }));
}
