// The anchor in the donor's own words: its ends are moved by the arrow keys or by selecting words, and what is to be said
// against the words is asked for while they change.

const PAUSE_MS = 200;

const shownExcerpt = (card) => [...card.querySelectorAll("[data-excerpt]")].find((excerpt) => !excerpt.hidden) || null;
const wordsOf = (excerpt) => [...excerpt.querySelectorAll("[data-from]")];
const piecesOf = (excerpt) => [...excerpt.querySelectorAll("p > span")];

export const anchorField = (card) => card.querySelector("[data-anchor]");

// Marks the words from one to another, and takes them as the anchor.
function take(card, excerpt, first, last) {
  const pieces = piecesOf(excerpt);
  const [from, to] = [pieces.indexOf(first), pieces.indexOf(last)];
  pieces.forEach((piece, at) => piece.classList.toggle("is-anchor", from <= at && at <= to));
  anchorField(card).value = pieces.slice(from, to + 1).map((piece) => piece.textContent).join("");
  card.querySelector("[data-start]").value = first.dataset.from;
  card.querySelector("[data-end]").value = last.dataset.to;
  for (const radio of card.querySelectorAll("[data-pick]")) radio.checked = false;
  check(card);
}

function marked(excerpt) {
  const words = wordsOf(excerpt).filter((word) => word.classList.contains("is-anchor"));
  return words.length ? [words[0], words.at(-1)] : null;
}

// Moves an end of the anchor by a word: the last word, or with `atStart` the first.
export function moveEnd(card, step, atStart) {
  const excerpt = shownExcerpt(card);
  const ends = excerpt && marked(excerpt);
  if (!ends) return false;
  const words = wordsOf(excerpt);
  const [first, last] = ends.map((word) => words.indexOf(word));
  const [from, to] = atStart ? [first + step, last] : [first, last + step];
  if (from < 0 || to >= words.length || from > to) return false;
  take(card, excerpt, words[from], words[to]);
  return true;
}

// Takes the words that have been selected with the pointer, whole.
export function takeSelection(card) {
  const selection = getSelection();
  const excerpt = shownExcerpt(card);
  if (!excerpt || selection.isCollapsed || !excerpt.contains(selection.anchorNode) || !excerpt.contains(selection.focusNode)) return;
  const words = wordsOf(excerpt).filter((word) => selection.containsNode(word, true));
  if (!words.length) return;
  selection.removeAllRanges();
  take(card, excerpt, words[0], words.at(-1));
}

// Shows where words that were offered stand, and takes them as the anchor.
export function pick(card, radio) {
  radio.checked = true;
  anchorField(card).value = radio.value;
  card.querySelector("[data-start]").value = radio.dataset.from || "";
  card.querySelector("[data-end]").value = radio.dataset.to || "";
  const own = card.querySelector(`[data-excerpt="${CSS.escape(radio.value)}"]`);
  for (const excerpt of card.querySelectorAll("[data-excerpt]")) excerpt.hidden = excerpt !== (own || card.querySelector('[data-excerpt=""]'));
  const excerpt = shownExcerpt(card);
  if (excerpt) {
    for (const piece of piecesOf(excerpt)) piece.classList.remove("is-anchor");
    const words = wordsOf(excerpt).filter((word) => Number(word.dataset.from) >= Number(radio.dataset.from) && Number(word.dataset.to) <= Number(radio.dataset.to));
    const pieces = piecesOf(excerpt);
    if (words.length) pieces.slice(pieces.indexOf(words[0]), pieces.indexOf(words.at(-1)) + 1).forEach((piece) => piece.classList.add("is-anchor"));
  }
  check(card);
}

// The card as it came.
export function reset(card) {
  card.querySelector("[data-accept]")?.reset();
  for (const field of card.querySelectorAll("[data-start], [data-end]")) field.value = "";
  for (const excerpt of card.querySelectorAll("[data-excerpt]")) {
    excerpt.hidden = excerpt.dataset.excerpt !== "";
    for (const piece of piecesOf(excerpt)) piece.classList.toggle("is-anchor", piece.dataset.mine === "1");
  }
}

// Whether somebody has begun to change the card, or to reject it.
export function isTouched(card) {
  const fields = [...card.querySelectorAll("[data-anchor], [name=note]")];
  const radios = [...card.querySelectorAll("[type=radio]")];
  return fields.some((field) => field.value !== field.defaultValue) || radios.some((radio) => radio.checked !== radio.defaultChecked)
    || card.querySelector("[data-reject][open]") !== null || card.contains(document.activeElement) && document.activeElement.matches("input");
}

// Asks what is to be said against the words, once they have not changed for a moment.
export function check(card) {
  const form = card.querySelector("[data-accept]");
  const words = anchorField(card).value;
  clearTimeout(form.timer);
  form.timer = setTimeout(async () => {
    const answer = await fetch(`${form.dataset.words}?${new URLSearchParams({ anchor: words })}`).catch(() => null);
    if (!answer?.ok || answer.redirected || anchorField(card).value !== words) return;
    show(card, words, await answer.json());
  }, PAUSE_MS);
}

function show(card, words, { warnings, error = "" }) {
  const lines = (error ? [{ text: error }] : warnings).map(({ text }) => {
    const line = document.createElement("li");
    line.textContent = text;
    return line;
  });
  card.querySelector("[data-doubt]").replaceChildren(card.querySelector("[data-warnings]"));
  card.querySelector("[data-warnings]").replaceChildren(...lines);
  card.querySelector("[data-warned-codes]").value = warnings.map(({ code }) => code).join(" ");
  card.querySelector("[data-warned-of]").value = warnings.length ? words : "";
  card.querySelector("[data-do=anyway]").hidden = !warnings.length;
}
