// The pieces of a paragraph that an anchor covers: from a word to another, with the brackets and quotation marks beside
// them that belong to them.

const PAIRS = new Map(["()", "[]", "{}", "（）", "【】", "「」", "『』", "〈〉", "《》"].map(([open, close]) => [open, close]));
const CLOSING = new Set(PAIRS.values());
const QUOTES = new Set("\"“”„‟«»"); // which of them opens differs from language to language: they come in twos

export const piecesOf = (excerpt) => [...excerpt.querySelectorAll("p > span")];
export const wordsOf = (excerpt) => [...excerpt.querySelectorAll("[data-from]")];
export const fromOf = ({ dataset }) => dataset.from ?? dataset.low;
export const toOf = ({ dataset }) => dataset.to ?? dataset.high;
export const textOf = (pieces, [from, to]) => pieces.slice(from, to + 1).map((piece) => piece.textContent).join("");
export const isLinked = (pieces, [from, to]) => pieces.slice(from, to + 1).some((piece) => piece.classList.contains("is-linked"));

function isBalanced(text) {
  const awaited = [];
  let quotes = 0;
  for (const sign of text) {
    if (PAIRS.has(sign)) awaited.push(PAIRS.get(sign));
    else if (CLOSING.has(sign) && awaited.pop() !== sign) return false;
    else if (QUOTES.has(sign)) quotes += 1;
  }
  return !awaited.length && quotes % 2 === 0;
}

const isMark = (piece) => piece && (PAIRS.has(piece.textContent) || CLOSING.has(piece.textContent) || QUOTES.has(piece.textContent));

// The shortest range, as the places of its first and last piece, from one word to another with marks around them whose
// text fits; null where none does.
export function rangeOf(pieces, first, last, fits = isBalanced) {
  const [from, to] = [pieces.indexOf(first), pieces.indexOf(last)];
  let [before, behind] = [0, 0];
  while (isMark(pieces[from - before - 1])) before += 1;
  while (isMark(pieces[to + behind + 1])) behind += 1;
  for (let marks = 0; marks <= before + behind; marks += 1) {
    for (let ahead = Math.max(0, marks - behind); ahead <= Math.min(marks, before); ahead += 1) {
      const range = [from - ahead, to + marks - ahead];
      if (fits(textOf(pieces, range))) return range;
    }
  }
  return null;
}

// As the suggestion had them where the words are its own, whatever marks they end with.
export function balanced(pieces, first, last) {
  const own = pieces.filter(({ dataset }) => dataset.mine);
  const words = own.filter(({ dataset }) => dataset.from);
  if (words.length && words[0] === first && words.at(-1) === last) return [pieces.indexOf(own[0]), pieces.indexOf(own.at(-1))];
  return rangeOf(pieces, first, last);
}

// Marks the pieces of a range, and none without one.
export function mark(excerpt, [from, to] = [0, -1]) {
  piecesOf(excerpt).forEach((piece, at) => piece.classList.toggle("is-anchor", from <= at && at <= to));
}
