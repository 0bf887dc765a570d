// The anchor in the donor's own words: moved, selected, picked and typed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";
import { OFTEN } from "./server.js";

const BODY = "The day is long. Wear warm boots on snow. Dry them at night.";
const OWN = [BODY.indexOf("warm"), BODY.indexOf("boots") + 5];

// The words of the text and what is between them, each with its place; those of the suggestion are its own.
const excerpt = [...BODY.matchAll(/\w+|\W+/g)].map(({ 0: text, index }) => [text, /\w/.test(text) ? index : -1, OWN[0] <= index && index < OWN[1]]);
const placed = { edges: [{ edge: 1, source: 1, anchor: "warm boots", target: "Warm boots", excerpt }, { edge: 2, source: 1, anchor: "hats", target: "Hats" }] };

const marks = (window) => window.document.querySelectorAll("[data-card] .is-anchor").map(({ textContent }) => textContent).join("");
const between = (window) => ["start", "end"].map((end) => window.find(`[data-${end}]`).value);

// The field, the marks in the text and the characters that are sent all say these words.
function expectAnchor(window, words) {
  assert.deepEqual([window.anchor, marks(window), BODY.slice(...between(window))], [words, words, words]);
}

const arrow = (window, key, shiftKey = false) => window.document.activeElement.fire("keydown", { key, shiftKey });

function typeAnew(window, words) {
  window.press("e");
  window.find("[data-anchor]").value = "";
  window.press(words);
}

test("the arrows move the ends of the anchor by words, an anchor keeps a word, and stays within the text", inWindow(placed, async (window, server) => {
  for (const [key, isStart, words] of [
    ["ArrowRight", false, "warm boots on"], ["ArrowLeft", true, "Wear warm boots on"], ["ArrowLeft", false, "Wear warm boots"],
    ["ArrowLeft", false, "Wear warm"], ["ArrowRight", true, "warm"], ["ArrowLeft", false, "warm"],
  ]) {
    arrow(window, key, isStart);
    expectAnchor(window, words);
  }
  for (let step = 0; step < 20; step += 1) arrow(window, "ArrowRight");
  expectAnchor(window, "warm boots on snow. Dry them at night");
  window.press("a");
  await settle();
  const { anchor, start, end } = server.requests[0].operations[0];
  assert.equal(BODY.slice(start, end), anchor);
}));

test("arrows in the field, and on a choice, are the browser's", inWindow(placed, async (window) => {
  window.press("e");
  assert.equal(arrow(window, "ArrowRight").isPrevented, false);
  window.press(["Escape"]);
  window.find("[data-where]").focus();
  assert.equal(arrow(window, "ArrowRight").isPrevented, false);
  assert.equal(window.anchor, "warm boots");
}));

test("words that are typed are marked at once where they stand, whatever their case, and the last may be begun", inWindow(placed, async (window) => {
  typeAnew(window, "Boots on SNO");
  assert.equal(marks(window), "boots on snow");
  assert.deepEqual(between(window), ["", ""]);
  window.press("W");
  assert.equal(BODY.slice(...between(window)), "boots on snow");
  window.press(" and more");
  assert.deepEqual([marks(window), between(window)], ["", ["", ""]]);
  window.press(["Escape"]);
  assert.deepEqual([marks(window), window.anchor], ["warm boots", "warm boots"]);
}));

test("words that are selected become the anchor, whole", inWindow(placed, async (window) => {
  const words = window.document.querySelectorAll("[data-from]");
  const [boots, on, snow] = ["boots", "on", "snow"].map((word) => words.find(({ textContent }) => textContent === word));
  const nodes = [boots, on, snow];
  window.selection = { anchorNode: boots, focusNode: snow, isCollapsed: false, containsNode: (node) => nodes.includes(node), removeAllRanges() {} };
  window.find("[data-review]").fire("pointerup");
  await window.wait(100);
  expectAnchor(window, "boots on snow");
}));

test("a digit picks another anchor, and what is typed or moved takes the choice back", inWindow(placed, async (window, server) => {
  window.press("2");
  assert.equal(window.anchor, "dry boots");
  assert.equal(window.document.querySelectorAll("[data-pick]")[1].checked, true);
  typeAnew(window, "warm");
  assert.equal(window.document.querySelectorAll("[data-pick]").some(({ checked }) => checked), false);
  window.press(["Escape", "1", "a"]);
  await settle();
  assert.equal(server.edges.get(1).said, "snow boots");
}));

test("what is only said of the words stops no key", inWindow(placed, async (window, server) => {
  typeAnew(window, OFTEN);
  await window.wait(500);
  assert.equal(window.find("[data-warnings]").textContent, "9 say it");
  assert.equal(window.find("[data-do=anyway]").hidden, true);
  window.press(["Enter"]);
  await settle();
  assert.deepEqual(server.requests[0].operations.map(({ do: done, anchor }) => [done.split(":")[0], anchor]), [["accept", OFTEN]]);
}));

test("warnings come while the words are changed, once they have not changed for a moment, and y overrules just these", inWindow(placed, async (window, server) => {
  const asked = [];
  const through = globalThis.fetch;
  globalThis.fetch = (address, options) => { if (address.startsWith("/words/")) asked.push(address); return through(address, options); };
  typeAnew(window, "click here");
  await window.wait(500);
  assert.equal(asked.length, 1, "not for each letter");
  assert.equal(window.find("[data-warnings]").textContent, "says nothing");
  assert.equal(window.find("[data-do=anyway]").hidden, false);
  window.press("!");
  await window.wait(500);
  assert.deepEqual([window.find("[data-warnings]").textContent, window.find("[data-do=anyway]").hidden], ["", true]);
  typeAnew(window, "click here");
  await window.wait(500);
  window.document.activeElement.blur();
  window.press("y");
  await settle();
  const { do: verb, warned, warned_of: of, anchor } = server.requests[0].operations[0];
  assert.deepEqual([verb, warned, of, anchor], ["anyway:follow", "generic", "click here", "click here"]);
}));

test("an answer about words that have changed meanwhile says nothing", inWindow(placed, async (window, server) => {
  const answer = server.hold("/words/");
  typeAnew(window, "click here");
  await window.wait(500);
  window.press("!");
  answer();
  await settle();
  assert.equal(window.find("[data-warnings]").textContent, "");
}));

test("w and b say where the link goes, which is sent as a wish only where the editor has said so", inWindow(placed, async (window, server) => {
  const does = () => window.find(".edge__does").textContent;
  assert.equal(does(), "in the text, follow");
  window.press("w");
  assert.equal(does(), "beside the text, follow");
  window.press("w");
  assert.equal(does(), "in the text, follow");
  window.press("b");
  assert.equal(does(), "beside the text, follow");
  window.press("1"); // what the editor says holds, whatever words follow
  assert.equal(does(), "beside the text, follow");
  window.press("aa");
  await settle();
  const [placedByHand, left] = server.requests.flatMap(({ operations }) => operations);
  assert.deepEqual([placedByHand.where, placedByHand.proposed, left.where, left.proposed], ["beside", undefined, undefined, "text"]);
}));

test("after an undo the card is as it came", inWindow(placed, async (window) => {
  window.press("2wau");
  assert.deepEqual([window.anchor, window.find("[data-where]:checked").value, marks(window)], ["warm boots", "text", "warm boots"]);
}));

test("the page beside a card is the acceptor's, then the donor's, then none, and goes with the card", inWindow(placed, async (window) => {
  const place = () => window.find("[data-page-text-place]");
  const link = { "data-page-text": "/page/2/", "data-donor-text": "/page/1/" };
  for (const [name, value] of Object.entries(link)) window.find("[data-more]").dataset[name === "data-page-text" ? "pageText" : "donorText"] = value;
  window.press("p");
  assert.deepEqual([place().hidden, window.asked[1]], [false, "/page/2/?words="]);
  window.press("p");
  assert.equal(window.asked[1], `/page/1/?words=warm+boots&start=${OWN[0]}&end=${OWN[1]}`);
  window.press("p");
  assert.equal(place().hidden, true);
  window.press("pj");
  assert.equal(place().hidden, true);
}));

// A paragraph as the server sends it: brackets, quotation marks and what its own words end with by themselves.
function paragraph(text, own, linked = "") {
  const [start, end] = [text.indexOf(own), text.indexOf(own) + own.length];
  const isLinked = (at) => linked && text.indexOf(linked) <= at && at < text.indexOf(linked) + linked.length;
  const pieces = [...text.matchAll(/\w+|[()"“”]|\++|[^\w()"“”+]+/g)].map(({ 0: piece, index }) => [
    piece, /\w/.test(piece) ? index : -1, start <= index && index < end, /\w/.test(piece) ? -1 : index, isLinked(index),
  ]);
  return { edges: [{ edge: 1, source: 1, anchor: own, target: "It", excerpt: pieces }], text };
}

function onParagraph(text, own, act, linked) {
  const { edges } = paragraph(text, own, linked);
  return inWindow({ edges }, (window) => act(window, (key, shiftKey, words) => {
    arrow(window, key, shiftKey);
    assert.deepEqual([window.anchor, marks(window), text.slice(...between(window))], [words, words, words]);
  }));
}

test("an end that is moved back and forth has its bracket again", onParagraph("See object-oriented programming (OOP) here.", "object-oriented programming (OOP)", (window, expectMoved) => {
  expectMoved("ArrowLeft", false, "object-oriented programming");
  expectMoved("ArrowRight", false, "object-oriented programming (OOP)");
  expectMoved("ArrowRight", false, "object-oriented programming (OOP) here");
}));

test("no end stops within brackets or quotation marks that the other is not in", onParagraph("A plan (of the new) kind is “quite good” now.", "plan", (window, expectMoved) => {
  expectMoved("ArrowRight", false, "plan (of the new)");
  expectMoved("ArrowLeft", false, "plan");
  for (const words of ["plan (of the new)", "plan (of the new) kind", "plan (of the new) kind is", "plan (of the new) kind is “quite good”"]) expectMoved("ArrowRight", false, words);
  for (const words of ["(of the new) kind is “quite good”", "kind is “quite good”"]) expectMoved("ArrowRight", true, words);
  expectMoved("ArrowRight", true, "is “quite good”");
  expectMoved("ArrowRight", true, "quite good");
  expectMoved("ArrowLeft", true, "is “quite good”");
}));

test("words of its own that end with other marks have them again", onParagraph("We write C++ all day.", "C++", (window, expectMoved) => {
  expectMoved("ArrowRight", false, "C++ all");
  expectMoved("ArrowLeft", false, "C++");
}));

test("words in a link are not taken, by an arrow or as they are typed, and it is said", onParagraph("Wear warm boots on snow, and warm boots at home.", "Wear", (window) => {
  arrow(window, "ArrowRight");
  assert.deepEqual([window.anchor, window.find("[data-said]").textContent], ["Wear", "They are in a link."]);
  typeAnew(window, "warm boots");
  assert.deepEqual([marks(window), between(window)[0]], ["warm boots", "29"]);
  typeAnew(window, "boots on snow");
  assert.deepEqual([marks(window), between(window)], ["", ["", ""]]);
}, "warm boots"));

test("words that are typed with their marks are marked with them, and words with others in between point nowhere", onParagraph("See programming (OOP) here. Then go.", "here", (window) => {
  typeAnew(window, "programming (OOP)");
  assert.equal(marks(window), "programming (OOP)");
  typeAnew(window, "here then");
  assert.deepEqual(between(window), ["", ""]);
}));

test("what the server says of the place is what is marked and sent", inWindow(placed, async (window, server) => {
  const said = { warnings: [], where: "text", place: [4, 7], excerpt: "" };
  const through = globalThis.fetch;
  globalThis.fetch = (address, options) => (address.startsWith("/words/") ? Promise.resolve({ ok: true, redirected: false, json: async () => said }) : through(address, options));
  arrow(window, "ArrowRight");
  await window.wait(500);
  assert.deepEqual(between(window).map(Number), [4, 7]);
  Object.assign(said, { where: "beside", place: null });
  arrow(window, "ArrowLeft");
  await window.wait(500);
  assert.deepEqual([marks(window), between(window)], ["", ["", ""]]);
  window.press("a");
  await settle();
  assert.equal(server.requests[0].operations[0].start, "");
}));
