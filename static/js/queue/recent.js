// The last things that the editor did, the newest first, each with a way back; and what could not be saved and needs
// another look.

import { saying } from "../sayings.js";

export const MOST = 10;
const NOT_SAVED = ["refused", "asks"];
const parse = (html) => document.createRange().createContextualFragment(html.trim()).firstElementChild;

// Whether a line of the list and one of the server's are of the same decision, reading, or card that was put off.
function isSame({ dataset: own }, { dataset: other }) {
  if (Number(own.edgeId) !== Number(other.edgeId) || (other.together ?? "1") !== (own.together ?? "1")) return false;
  if (other.decision) return own.decision === other.decision;
  if (other.reading) return (own.reading ?? own.key) === other.reading;
  return !own.decision && !own.reading && (own.takenBackBy ?? other.takenBackBy) === other.takenBackBy;
}

export class Recent {
  constructor(root) {
    this.list = root.querySelector("[data-recent]");
    this.none = root.querySelector("[data-recent-none]");
    this.template = root.querySelector("[data-recent-item]");
    this.edgeUrl = root.dataset.edgeUrl;
    this.entries = new Map(); // by key of the operation
  }

  add(done) {
    if (!this.list) return;
    this.list.prepend(this.itemOf(done));
    this.trim();
  }

  // What could not be saved and is no longer in the list, or was done before this page was loaded: behind the others.
  putBack(done, result, message) {
    if (!this.list) return;
    if (!this.entries.has(done.key)) this.list.append(this.itemOf(done));
    this.mark(done.key, result, message);
    this.trim();
  }

  itemOf({ key, edge, label = {} }) {
    const item = this.template.content.firstElementChild.cloneNode(true);
    item.dataset.key = key;
    item.dataset.edgeId = edge;
    item.dataset.result = "unsaved";
    item.querySelector("a").href = this.edgeUrl.replace("/0/", `/${edge}/`);
    for (const [name, text] of Object.entries(label)) item.querySelector(`[data-${name}]`).textContent = text;
    item.querySelector("[data-of]").textContent = label.name;
    item.querySelector("[data-on]").hidden = !label.donor;
    item.querySelector("[data-to]").hidden = label.name === label.target; // the words say where it goes
    this.entries.set(key, item);
    return item;
  }

  remove(key) {
    this.entries.get(key)?.remove();
    this.entries.delete(key);
    this.trim();
  }

  // What came with the page, the newest if none is named: it leaves the list. Null where there is none.
  takeOld(item = this.list?.querySelector("[data-old]")) {
    item?.remove();
    this.trim();
    if (!item) return null;
    const { edgeId, decision, reading, takenBackBy } = item.dataset;
    return { edge: Number(edgeId), decision: Number(decision) || null, reading, takenBackBy };
  }

  // Of the newest that came with the page, its number and how many decisions were made together with it.
  newestOld() {
    const item = this.list?.querySelector("[data-old]");
    return item && { decision: Number(item.dataset.decision), together: Number(item.dataset.together) || 1 };
  }

  // What was done last as far as the list shows: its key, null where the server alone knows of it; null of an empty list.
  newest() {
    const item = this.list?.firstElementChild;
    return item ? { key: item.dataset.key ?? null } : null;
  }

  // The list as the server has it by now, in `lines` as HTML. What is in it already keeps its line, and what could not be
  // saved its place. False where the focus is in it, which would lose it.
  renew(lines) {
    if (!this.list || this.list.contains(document.activeElement)) return !this.list;
    const there = [...this.list.children];
    const isRefused = ({ dataset }) => NOT_SAVED.includes(dataset.result);
    const found = lines.map(parse).map((line) => there.find((item) => !isRefused(item) && isSame(item, line)) ?? line);
    there.forEach((item, at) => { if (isRefused(item)) found.splice(at, 0, item); });
    if (found.length !== there.length || found.some((item, at) => item !== there[at])) this.list.replaceChildren(...found);
    for (const [key, item] of this.entries) if (!found.includes(item)) this.entries.delete(key);
    this.none.hidden = found.length > 0;
    return true;
  }

  // The card whose decision, the newest of all, could not be saved; null where the newest was.
  newestRefused() {
    const newest = this.list?.firstElementChild;
    return newest && NOT_SAVED.includes(newest.dataset.result) ? Number(newest.dataset.edgeId) : null;
  }

  // What was done last to a card and is in force.
  savedOf(edge) {
    return [...(this.list?.children ?? [])].find(({ dataset }) => Number(dataset.edgeId) === edge && !NOT_SAVED.includes(dataset.result));
  }

  // A decision that came with the page and is listed under its key as well.
  removeOld(decision) {
    if (decision) this.list?.querySelector(`[data-old][data-decision="${decision}"]`)?.remove();
  }

  removeUndone(edges) {
    for (const edge of edges) this.list?.querySelector(`[data-old][data-decision][data-edge-id="${edge}"]`)?.remove();
    this.trim();
  }

  // `verb`: what the server calls it, which knows whether words were changed.
  mark(key, result, message = "", verb = "", decision = null) {
    const item = this.entries.get(key);
    if (!item) return;
    item.dataset.result = result;
    if (decision) item.dataset.decision = String(decision);
    if (verb) item.querySelector("[data-verb]").textContent = verb;
    item.querySelector("[data-message]").textContent = NOT_SAVED.includes(result) ? saying("not-saved-yet", { message }) : message;
    if (NOT_SAVED.includes(result)) item.querySelector("[data-does]").textContent = saying("look");
  }

  trim() {
    if (!this.list) return;
    for (const item of [...this.list.children].slice(MOST)) {
      if (NOT_SAVED.includes(item.dataset.result)) continue; // it still needs another look
      this.entries.delete(item.dataset.key);
      item.remove();
    }
    if (this.list.children.length) this.none.hidden = true; // without any, the server may know of more
  }
}
