// Words that are typed are marked at once where they stand in a paragraph of the card. What stands elsewhere in the text the
// server finds, and sends that paragraph.

import { fromOf, isLinked, mark, piecesOf, rangeOf, toOf, wordsOf } from "./marks.js";

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u00ad]*(?:['’.‑-][\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u00ad]*)*/gu;
const folded = (text) => text.normalize("NFKD").replace(/[\p{M}\u00ad]/gu, "").replaceAll("’", "'").replaceAll("‑", "-").toLowerCase();
const same = (one, other) => folded(one).trim().split(/\s+/).join(" ") === folded(other).trim().split(/\s+/).join(" ");

// The place of the words in a paragraph, that of the card's own or else the first that is in no link, as a range of its
// pieces; null where it has none. Of the last word a beginning will do, with `isWhole` false.
function placeIn(excerpt, text) {
  const wanted = [...folded(text).matchAll(WORD)].map(([word]) => word);
  const pieces = piecesOf(excerpt);
  const words = wordsOf(excerpt);
  const read = words.map((word) => folded(word.textContent));
  const isLast = (at) => at === wanted.length - 1;
  const isOwn = (start) => words.slice(start, start + wanted.length).some((word) => word.dataset.mine);
  const rangeAt = (start) => [start, start + wanted.length - 1].map((at) => pieces.indexOf(words[at]));
  const find = (matches) => {
    const starts = [...words.keys()].filter((start) => wanted.every((word, at) => matches(read[start + at] || "", word, at)) && !isLinked(pieces, rangeAt(start)));
    return starts.find(isOwn) ?? starts[0] ?? -1;
  };
  if (!wanted.length) return null;
  const whole = find((found, word) => found === word);
  const start = whole >= 0 ? whole : find((found, word, at) => (isLast(at) ? found.startsWith(word) : found === word));
  if (start < 0) return null;
  const exact = whole >= 0 && rangeOf(pieces, words[start], words[start + wanted.length - 1], (shown) => same(shown, text));
  return { range: exact || rangeAt(start), isWhole: Boolean(exact) };
}

// Shows where the words stand, in the paragraph that is shown or another of the card, and returns the place if they are
// whole there; else null.
export function markTyped(card, shown, text) {
  const excerpts = [...card.querySelectorAll("[data-excerpt]")];
  const found = [shown, ...excerpts].filter(Boolean).map((excerpt) => [excerpt, placeIn(excerpt, text)]).find(([, place]) => place);
  if (!found) {
    if (shown) mark(shown);
    return null;
  }
  const [excerpt, { range, isWhole }] = found;
  for (const other of excerpts) other.hidden = other !== excerpt;
  mark(excerpt, range);
  const [first, last] = range.map((at) => piecesOf(excerpt)[at]);
  return isWhole ? { from: fromOf(first), to: toOf(last) } : null;
}

// The paragraph that the server found them in.
export function showFound(card, html) {
  forgetFound(card);
  const first = card.querySelector("[data-excerpt]") || [...card.querySelectorAll(".edge__target")].at(-1);
  const found = document.createRange().createContextualFragment(html.trim()).firstElementChild;
  found.dataset.found = "1";
  for (const other of card.querySelectorAll("[data-excerpt]")) other.hidden = true;
  found.hidden = false;
  first.before(found);
}

export function forgetFound(card) {
  for (const found of card.querySelectorAll("[data-found]")) found.remove();
}
