// The anchor in the donor's own words: its ends are moved by the arrow keys or by selecting words, and what is to be said
// against the words is asked for while they change.

import { balanced, fromOf, isLinked, mark, piecesOf, textOf, toOf, wordsOf } from "./marks.js";
import { forgetFound, markTyped, showFound } from "./typed.js";

const PAUSE_MS = 200;

const cameWith = new WeakMap(); // by card, what was said against its words when it came

const shownExcerpt = (card) => [...card.querySelectorAll("[data-excerpt]")].find((excerpt) => !excerpt.hidden) || null;

export const anchorField = (card) => card.querySelector("[data-anchor]");

// Puts what an operation said into the fields of a card, as if it had been typed: what could not be saved is not lost.
export function write(card, { anchor, shown, note, text, sentence }) {
  const fields = [["[data-anchor]", anchor === shown ? "" : anchor], ["[data-reject-form] [name=note]", note], ["[data-ask-form] [name=text]", text], ["[data-sentence]", sentence]];
  for (const [selector, typed] of fields) {
    const field = card.querySelector(selector);
    if (field && typed) field.value = typed;
  }
}

function pointTo(card, from = "", to = "") {
  card.querySelector("[data-start]").value = from;
  card.querySelector("[data-end]").value = to;
}

// Marks a range of pieces, and takes it as the anchor; false where a link stands there already.
function take(card, excerpt, range) {
  const pieces = piecesOf(excerpt);
  if (isLinked(pieces, range)) return false;
  mark(excerpt, range);
  anchorField(card).value = textOf(pieces, range);
  pointTo(card, fromOf(pieces[range[0]]), toOf(pieces[range[1]]));
  for (const radio of card.querySelectorAll("[data-pick]")) radio.checked = false;
  putAt(card, "text");
  check(card);
  return true;
}

const placeOf = (card) => card.querySelector("[data-where]:checked");

// The button says what it will do, and of a link without words in the text is said what holds where it goes.
export function sayWhere(card) {
  const where = placeOf(card);
  for (const said of card.querySelectorAll("[data-when]")) if (where) said.hidden = where.value !== said.dataset.when;
  const button = card.querySelector("[data-do=accept]");
  if (!where || !button) return;
  button.querySelector(".edge__does").textContent = `${where.dataset.where}, ${button.dataset.rel}`;
}

// Where the words go by themselves, unless the editor has said where; without a value, where the card had them.
function putAt(card, value = "") {
  if (card.dataset.placed) return;
  const place = [...card.querySelectorAll("[data-where]")].find((radio) => (value ? radio.value === value : radio.defaultChecked));
  if (place) place.checked = true;
  sayWhere(card);
}

// The editor says where: that holds until the card is as it came.
export function place(card) {
  card.dataset.placed = "1";
  sayWhere(card);
  check(card);
}

function marked(excerpt) {
  const words = wordsOf(excerpt).filter((word) => word.classList.contains("is-anchor"));
  return words.length ? [words[0], words.at(-1)] : null;
}

// The words of the anchor and, where they are marked in the text, their place in it, as a query.
export function queryOf(card) {
  const shown = shownExcerpt(card);
  const pieces = shown ? piecesOf(shown).filter((piece) => piece.classList.contains("is-anchor") && fromOf(piece)) : [];
  const place = pieces.length ? { start: fromOf(pieces[0]), end: toOf(pieces.at(-1)) } : {};
  return new URLSearchParams({ words: anchorField(card)?.value || "", ...place });
}

// Moves an end of the anchor by a word: the last word, or with `atStart` the first; by more, where one alone would leave
// a bracket open. False where a link is in the way.
export function moveEnd(card, step, atStart) {
  const excerpt = shownExcerpt(card);
  const ends = excerpt && marked(excerpt);
  if (!ends) return true;
  const [pieces, words] = [piecesOf(excerpt), wordsOf(excerpt)];
  let [from, to] = ends.map((word) => words.indexOf(word));
  let range = null;
  while (!range) {
    if (atStart) from += step;
    else to += step;
    if (from < 0 || to >= words.length || from > to) return true;
    range = balanced(pieces, words[from], words[to]);
  }
  return take(card, excerpt, range);
}

// Takes the words that have been selected with the pointer, whole. False where they are in a link.
export function takeSelection(card) {
  const selection = getSelection();
  const excerpt = shownExcerpt(card);
  if (!excerpt || selection.isCollapsed || !excerpt.contains(selection.anchorNode) || !excerpt.contains(selection.focusNode)) return true;
  const [pieces, words] = [piecesOf(excerpt), wordsOf(excerpt).filter((word) => selection.containsNode(word, true))];
  if (!words.length) return true;
  selection.removeAllRanges();
  const ends = [words[0], words.at(-1)];
  return take(card, excerpt, balanced(pieces, ...ends) ?? ends.map((word) => pieces.indexOf(word)));
}

// Shows where words that were offered stand, and takes them as the anchor.
export function pick(card, radio) {
  radio.checked = true;
  forgetFound(card);
  anchorField(card).value = radio.value;
  pointTo(card, radio.dataset.from, radio.dataset.to);
  const own = card.querySelector(`[data-excerpt="${CSS.escape(radio.value)}"]`);
  for (const excerpt of card.querySelectorAll("[data-excerpt]")) excerpt.hidden = excerpt !== (own || card.querySelector('[data-excerpt=""]'));
  const excerpt = shownExcerpt(card);
  if (excerpt) {
    const pieces = piecesOf(excerpt);
    const within = pieces.filter((piece) => Number(fromOf(piece)) >= Number(radio.dataset.from) && Number(toOf(piece)) <= Number(radio.dataset.to));
    mark(excerpt, within.length ? [within[0], within.at(-1)].map((piece) => pieces.indexOf(piece)) : undefined);
  }
  putAt(card, radio.dataset.from ? "text" : "");
  check(card);
}

// What is typed is marked where it stands, and is looked at as it changes.
export function type(card) {
  const field = anchorField(card);
  const found = markTyped(card, shownExcerpt(card), field.value);
  const place = field.value === field.defaultValue ? null : found; // the words that were there pick nothing
  pointTo(card, place?.from, place?.to);
  for (const radio of card.querySelectorAll("[data-pick]")) radio.checked = false;
  putAt(card, place ? "text" : "");
  check(card);
}

// A line of its own has the words that the link has by now.
function sayLine(card) {
  for (const words of card.querySelectorAll("[data-line]")) words.textContent = anchorField(card).value;
}

// The card as it came.
export function reset(card) {
  const form = card.querySelector("[data-accept]");
  if (!form) return;
  clearTimeout(form.timer);
  form.reset();
  if (cameWith.has(card)) showDoubt(card, cameWith.get(card));
  delete card.dataset.placed;
  sayWhere(card);
  sayLine(card);
  forgetFound(card);
  pointTo(card);
  for (const excerpt of card.querySelectorAll("[data-excerpt]")) {
    excerpt.hidden = excerpt.dataset.excerpt !== "";
    for (const piece of piecesOf(excerpt)) piece.classList.toggle("is-anchor", piece.dataset.mine === "1");
  }
}

const changed = (card) => [...card.querySelectorAll("[data-anchor], [data-sentence], [name=note], .edge__says")].some((field) => field.value !== field.defaultValue);

// Whether somebody has begun to change the card, to reject it, or to write about it.
export function isTouched(card) {
  const radios = [...card.querySelectorAll("[type=radio]:not([name=reach])")]; // that one is remembered from card to card
  return changed(card) || radios.some((radio) => radio.checked !== radio.defaultChecked)
    || card.querySelector("[data-reject][open], [data-ask][open]") !== null || card.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
}

// Whether somebody has typed on the card what is not sent yet.
export const isTyped = (card) => Boolean(card.dataset.typed) && changed(card);

// Asks what is to be said against the words, once they have not changed for a moment.
export function check(card) {
  const form = card.querySelector("[data-accept]");
  const asked = () => new URLSearchParams({
    anchor: anchorField(card).value, start: form.elements.start.value, end: form.elements.end.value,
    where: card.dataset.placed ? placeOf(card).value : "",
  }).toString();
  clearTimeout(form.timer);
  sayLine(card);
  form.timer = setTimeout(async () => {
    const query = asked();
    const answer = await fetch(`${form.dataset.words}?${query}`).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const said = await answer.json();
    if (asked() !== query) return; // it has changed meanwhile
    if (said.where) putAt(card, said.where);
    if (said.excerpt) showFound(card, said.excerpt);
    if (said.place) pointTo(card, ...said.place);
    else if (form.elements.start.value && said.where && !card.dataset.placed) unmark(card); // the words cannot stand there
    show(card, anchorField(card).value, said);
  }, PAUSE_MS);
}

function unmark(card) {
  const excerpt = shownExcerpt(card);
  if (excerpt) mark(excerpt);
  pointTo(card);
}

function show(card, words, { warnings, error = "", note = "" }) {
  const doubt = card.querySelector("[data-doubt]");
  const list = card.querySelector("[data-warnings]");
  const [codes, of, anyway] = ["[data-warned-codes]", "[data-warned-of]", "[data-do=anyway]"].map((selector) => card.querySelector(selector));
  if (!cameWith.has(card)) cameWith.set(card, { said: [...doubt.children], lines: [...list.children], codes: codes.value, of: of.value, isHidden: anyway.hidden });
  const lines = (error ? [{ text: error }] : [...(note ? [{ text: note }] : []), ...warnings]).map(({ text, stops }) => {
    const line = document.createElement("li");
    line.textContent = text;
    line.classList.toggle("muted", stops === false);
    return line;
  });
  const asked = warnings.filter(({ stops }) => stops !== false); // the others are only said
  showDoubt(card, { said: [list], lines, codes: asked.map(({ code }) => code).join(" "), of: asked.length ? words : "", isHidden: !asked.length });
}

function showDoubt(card, { said, lines, codes, of, isHidden }) {
  card.querySelector("[data-warnings]").replaceChildren(...lines);
  card.querySelector("[data-doubt]").replaceChildren(...said);
  card.querySelector("[data-warned-codes]").value = codes;
  card.querySelector("[data-warned-of]").value = of;
  card.querySelector("[data-do=anyway]").hidden = isHidden;
}
