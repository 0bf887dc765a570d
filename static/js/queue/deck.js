// The suggestions that wait, in the order of the list: those the browser has, and where the list goes on. A card that is
// decided leaves the deck; one whose decision is undone comes back to where the editor is.

import { ask } from "./asking.js";

const AHEAD = 24; // cards kept ready behind the open one
const SHOWN = 8; // lines below it
const RETRY_MS = 4000; // after the server could not be reached

// Not before the page has nothing else to do.
const inIdleTime = (act) => (globalThis.requestIdleCallback || setTimeout)(act);
const parse = (html) => document.createRange().createContextualFragment(html.trim()).firstElementChild;

// `group`: the page that the suggestions of a group have in common, and `head` says what is known of it. A card is made
// when it is first asked for: two dozen at once would hold up the keys.
export function itemOf({ edge, source, group, card, line, head = "", cursor = "" }) {
  let node = null;
  return {
    edge, source, group, head, cursor, line: parse(line),
    get node() { return (node ??= parse(card)); },
    set node(other) { node = other; },
    get isMade() { return node !== null; },
  };
}

export class Deck {
  // `onArrival` is called when cards have come, or when it is known that none will. `wraps`: the page did not begin with
  // the first of the list, so that those before it come at its end.
  constructor({ url, query, cursor, wraps, onArrival }) {
    Object.assign(this, { url, query, cursor, wraps, onArrival });
    this.items = [];
    this.at = 0;
    this.hasMore = Boolean(url);
    this.loading = null;
    this.gone = new Set(); // decided here: the server's list may still hold them
    this.closed = new Map(); // donors that were said to take no more links, each with the cards that left for it
  }

  get current() { return this.items[this.at] || null; }

  // Whether a card may still come.
  get waits() { return this.hasMore || this.loading !== null; }

  following() { return this.items.slice(this.at + 1, this.at + 1 + SHOWN); }

  remove(item) {
    const at = this.items.indexOf(item);
    this.gone.add(item.edge);
    if (at < 0) return;
    this.items.splice(at, 1);
    if (at < this.at || (this.at >= this.items.length && !this.waits)) this.at = Math.max(0, this.at - 1);
    this.fill();
  }

  // Makes the next card while the open one is read.
  prepare() { inIdleTime(() => this.following()[0]?.node); }

  // Puts a card where the editor is, and makes it the open one.
  insert(item) {
    const at = this.items.findIndex((other) => other.edge === item.edge);
    if (at >= 0) {
      this.items[at] = item;
      this.at = at;
    } else {
      this.items.splice(this.at, 0, item);
    }
    this.gone.delete(item.edge);
  }

  // Takes out the cards that a decision rules out, and returns them.
  takeOut(isRuledOut) {
    const out = this.items.filter(isRuledOut);
    for (const item of out) this.remove(item);
    return out;
  }

  // Those of the donor that come later are added to the cards returned.
  closeDonor(source) {
    const out = this.takeOut((item) => item.source === source);
    this.closed.set(source, out);
    return out;
  }

  // Puts a card behind the open one.
  insertBehind(item) {
    this.items.splice(this.at + 1, 0, item);
    this.gone.delete(item.edge);
  }

  move(step) {
    const to = this.at + step;
    if (to < 0 || to >= this.items.length) return false;
    this.at = to;
    this.fill();
    return true;
  }

  open(edge) {
    const at = this.items.findIndex((item) => item.edge === edge);
    if (at < 0) return false;
    this.at = at;
    this.fill();
    return true;
  }

  // Sees to it that the next cards are there before they are needed.
  fill() {
    if (this.loading || !this.hasMore || this.items.length - this.at > AHEAD) return;
    this.loading = this.load().finally(() => {
      this.loading = null;
      this.onArrival();
      if (!this.failed) this.fill();
    });
  }

  async load() {
    const query = new URLSearchParams(this.query);
    if (this.cursor) query.set("after", this.cursor);
    this.failed = false;
    try {
      const response = await ask(`${this.url}?${query}`, { headers: { Accept: "application/json" } });
      if (!response.ok || response.redirected) throw new Error("no cards");
      const { cards, next } = await response.json();
      this.cursor = next;
      this.hasMore = Boolean(next) || this.wraps;
      if (!next) this.wraps = false;
      const known = new Set(this.items.map((item) => item.edge));
      for (const found of cards) {
        if (!known.has(found.edge) && !this.gone.has(found.edge)) (this.closed.get(found.source) || this.items).push(itemOf(found));
      }
    } catch {
      this.failed = true;
      setTimeout(() => this.fill(), RETRY_MS);
    }
  }
}
