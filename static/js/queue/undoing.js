// What is taken back: the newest, one of the list, or what was done before this page was loaded.

import { ask } from "./asking.js";
import { NO_DECISIONS } from "./deciding.js";
import { itemOf } from "./deck.js";
import { newKey } from "./outbox.js";
import { MOST } from "./recent.js";
import * as words from "./words.js";
import { saying } from "../sayings.js";

export const TAKEN_BACK_BY = { aside: "back", back: "aside", ask: "unask" };
const ASK_MS = 4000; // between attempts to fetch the card that an undo brings back
const SLOW_MS = 1000; // after which it is said what keys wait for

export function addUndoing(desk) {
  const { root, place, donorPlace, recent, done, look, accepted, heads, counts, deck, held, outbox } = desk;

  // Takes back the newest, or the one of the key. It is painted at once; what the server has is taken back behind it.
  function undo(key = null) {
    const newest = key ? null : recent.newestRefused();
    if (look.has(newest)) return desk.lookAgain(newest); // there is nothing to take back
    desk.forgetMessages();
    const at = key ? done.findIndex((entry) => entry.key === key) : newestHere();
    const entry = done[at];
    if (!entry && key) return;
    if (!entry) return undoNewestOld();
    desk.askedToUndo = null;
    done.splice(at, 1);
    recent.remove(entry.key);
    if (!entry.item) return undoWithoutCard(entry);
    bringBack(entry);
    if (!outbox.takeBack(entry.key)) takeBackThere(entry);
  }

  // The place of the newest in what was done here; -1 where it was done in another window, or before this page.
  function newestHere() {
    const newest = recent.newest();
    if (newest && newest.key === null) return -1;
    const at = newest ? done.findIndex((entry) => entry.key === newest.key) : -1;
    return at < 0 ? done.length - 1 : at;
  }

  // The newest that was not done here. Those that came with it, in a spreadsheet for example, go too:
  // where they are more than the list of the last decisions shows, the first press says how many.
  function undoNewestOld() {
    const { decision, together } = recent.newestOld() ?? {};
    if (together > MOST && desk.askedToUndo !== decision) {
      desk.askedToUndo = decision;
      return desk.say(saying("undo-together", { count: together }), true);
    }
    desk.askedToUndo = null;
    undoOld(recent.takeOld(), true);
  }

  function takeBackThere(entry, key = newKey()) {
    const edge = entry.edge ?? entry.item.edge;
    const kind = TAKEN_BACK_BY[entry.verb];
    if (kind) outbox.add({ key, kind, edge });
    else outbox.add({ key, kind: "undo", of: entry.key, ...(entry.decision && { decision: entry.decision }), label: { ...entry.label, edge } });
  }

  // Decided before this page was loaded again and not saved until then: its card comes from the server.
  function undoWithoutCard(entry) {
    const key = newKey();
    waitFor(entry.edge, key);
    counts.left += 1;
    if (!NO_DECISIONS.includes(entry.verb)) counts.today -= 1;
    if (outbox.takeBack(entry.key)) fetchCard();
    else takeBackThere(entry, key);
  }

  // Done before this page was loaded again: the server has its card. `isWhole`: with the group that it was decided in.
  // What is older than the list of the last decisions, the server finds.
  function undoOld(old, isWhole = false) {
    const { edge, decision, reading, takenBackBy } = old || {};
    desk.forgetMessages();
    const key = newKey();
    waitFor(edge, key);
    counts.left += 1;
    if (takenBackBy) return outbox.add({ key, kind: takenBackBy, edge });
    counts.today -= 1;
    outbox.add({ key, kind: "undo", ...(reading ? { of: reading } : { decision }), ...(isWhole && { whole: 1 }), ...(edge && { label: { edge } }) });
  }

  // Undoes one of the last decisions, by its place in the list; shows the card of one that could not be saved.
  function undoOf(line) {
    if (!line.isConnected) return; // undone by a click before
    const { key, result } = line.dataset;
    const edge = Number(line.dataset.edgeId);
    if (!key) undoOld(recent.takeOld(line));
    else if (result === "saved" || result === "unsaved") undo(key);
    else if (look.has(edge)) desk.lookAgain(edge);
    else desk.open(edge);
  }

  // Later keys are meant for the card that comes back: nothing is done to the one that is still shown.
  function waitFor(edge, key, onCard = arrived) {
    desk.waiting = { edge, key, onCard };
    place.inert = true;
    setTimeout(() => { if (desk.waiting?.key === key) desk.say(saying("waits-for-card"), true); }, SLOW_MS);
  }

  function stopWaiting() {
    desk.waiting = null;
    desk.comesBack = false;
    place.inert = false;
    if (document.activeElement === document.body) deck.current?.node.focus({ preventScroll: true });
  }

  // Esc: goes on without the card, which comes back behind the open one, and forgets the keys that were meant for it.
  function giveUp() {
    const isWaiting = Boolean(desk.waiting);
    if (isWaiting) stopWaiting();
    desk.paint(); // where nothing was shown until then
    if (held.drop() || isWaiting) desk.say(saying("gave-up"), true);
  }

  async function fetchCard() {
    const asked = desk.waiting;
    while (desk.waiting === asked) {
      const response = await ask(`${root.dataset.edgeUrl.replace("/0/", `/${asked.edge}/`)}?${root.dataset.query}`, { headers: { Accept: "application/json" } }).catch(() => null);
      const isThere = response?.ok && !response.redirected;
      const found = isThere ? (await response.json()).cards : [];
      if (desk.waiting === asked && (isThere || response?.status === 404)) return asked.onCard(found.map(itemOf));
      await new Promise((resolve) => { setTimeout(resolve, ASK_MS); });
    }
  }

  // The cards of an undo are there, the first of them the open one. Without any, the keys that waited have no card.
  function arrived(items) {
    for (const item of [...items].reverse()) {
      deck.insert(item);
      if (item.head) heads.set(item.group, item.head);
      accepted.delete(item.group); // its head knows
      delete donorPlace.dataset.ofGroup;
    }
    stopWaiting();
    desk.paint();
    if (items.length > 1) desk.say(saying("undone-together", { count: items.length }));
    else if (items.length) desk.say(saying("undone", desk.nameOf(items[0].node)));
    else if (held.drop()) desk.say(saying("gave-up"), true);
    held.pump();
  }

  function bringBack(entry) {
    const { item, verb } = entry;
    counts.left += 1;
    if (!NO_DECISIONS.includes(verb)) counts.today -= 1;
    desk.countAccepted(item, verb, -1);
    desk.settle(item.edge);
    for (const open of item.node.querySelectorAll("[data-reject], [data-ask]")) {
      open.open = false;
      open.querySelector("form").reset();
    }
    item.node.querySelector("[data-more]")?.setAttribute("aria-expanded", "false");
    words.reset(item.node);
    deck.insert(item);
    desk.bringBackHidden(entry);
    desk.paint();
    desk.say(saying("undone", desk.nameOf(item.node)));
  }

  function undone(operation, answer) {
    const back = desk.openCards(answer);
    const edge = operation.label?.edge;
    const isAwaited = desk.waiting?.key === operation.key;
    if (answer.result !== "saved") undoRefused(operation, answer, back);
    for (const fresh of back) {
      const item = deck.items.find((other) => other.edge === fresh.edge);
      if (item) renew(item, fresh);
    }
    recent.removeUndone(back.map((fresh) => fresh.edge));
    setTimeout(desk.refresh, 0); // the list has room for more
    if (isAwaited) {
      const shown = back.length ? back : answer.cards.filter((card) => card.edge === edge).map(itemOf);
      if (shown.length || !edge || answer.result !== "saved") arrived(shown);
    } else {
      // Not what has been decided again since.
      const isNew = ({ edge }) => !deck.gone.has(edge) && !deck.items.some((other) => other.edge === edge);
      for (const fresh of back.filter(isNew).reverse()) deck.insertBehind(fresh);
      desk.paint();
    }
  }

  function undoRefused(operation, answer, back) {
    const { key, label } = operation;
    desk.say(answer.message, !label);
    if (!label) return;
    const item = deck.items.find((other) => other.edge === label.edge);
    if (item && !back.some((fresh) => fresh.edge === label.edge)) closeAgain(item, answer);
    recent.add({ key, edge: label.edge, label: { verb: saying("undo"), name: label.name || "", target: label.target || "", donor: label.donor || "" } });
    recent.mark(key, "refused", answer.message);
  }

  // The decision holds, and the card that was brought back is closed again. Where it is the open card it stays in its
  // place with the reason, so that no key meant for it decides another; where somebody writes in it, as it is.
  function closeAgain(item, answer) {
    counts.left -= 1;
    counts.today += 1;
    if (item !== deck.current || !answer.cards.length) deck.remove(item);
    else if (!words.isTouched(item.node)) item.node = desk.closed(answer, item);
  }

  // The words, the run and the tier of a card may have changed while it was decided.
  function renew(item, fresh) {
    const differs = (name) => item.node.querySelector(`[name=${name}]`)?.value !== fresh.node.querySelector(`[name=${name}]`)?.value;
    if (!differs("run") && !differs("shown")) return;
    if (item === deck.current && words.isTouched(item.node)) return;
    item.node = fresh.node;
    item.line = fresh.line;
  }

  Object.assign(desk, { undo, undoOf, waitFor, stopWaiting, giveUp, fetchCard, undone });
}
