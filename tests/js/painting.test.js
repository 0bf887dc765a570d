// What is done between a key and the next card: as little as the browser needs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const numbers = (lines) => lines.map(({ dataset }) => Number(dataset.line));

test("the page is asked where things are once all is in its place", inWindow({ count: 30, perDonor: 1 }, async (window) => {
  const seen = [];
  Object.defineProperty(globalThis, "scrollY", { configurable: true, get: () => {
    seen.push([window.open, numbers(window.find("[data-next]").children)[0], window.left, Number(window.find("[data-donor-place]").dataset.ofGroup)]);
    return 0;
  } });
  window.press("a");
  assert.deepEqual(seen, [[2, 3, 29, 2]]);
  await settle();
  assert.equal(seen.length, 1, "the answer changes nothing of it");
}));

test("the card that leaves has no focus by then", inWindow({}, async (window) => {
  const { card, document } = window;
  assert.equal(document.activeElement, card);
  const remove = card.remove.bind(card);
  let had = null;
  card.remove = () => { had = document.activeElement; remove(); };
  window.press("a");
  assert.equal(had, document.body);
  assert.equal(document.activeElement, window.card);
}));

test("lines that stay are not taken out of the page", inWindow({ count: 30 }, async (window) => {
  const taken = [];
  for (const line of window.find("[data-next]").children) {
    const remove = line.remove.bind(line);
    line.remove = () => { taken.push(Number(line.dataset.line)); remove(); };
  }
  window.press("a");
  await settle();
  assert.deepEqual(taken, [2]);
  assert.deepEqual(numbers(window.find("[data-next]").children), [3, 4, 5, 6, 7, 8, 9, 10]);
}));

test("a card is made when it is next, and not with two dozen others", inWindow({ count: 60 }, async (window) => {
  const made = [];
  const { createRange } = window.document;
  window.document.createRange = () => ({ createContextualFragment: (html) => {
    const found = createRange().createContextualFragment(html);
    if (found.firstElementChild.dataset.edge) made.push(Number(found.firstElementChild.dataset.edge));
    return found;
  } });
  window.press("a");
  await settle();
  assert.deepEqual(made, [3]);
}));
