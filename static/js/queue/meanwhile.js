// What the editor's other windows and other people have done meanwhile: the list of the last decisions, the counts, the
// head of the group, and whether the open card is decided by now. It is asked for now and then, and at once when another
// window of the browser has saved something, or this one is turned to. Nothing waits for it.

import { ask } from "./asking.js";
import { itemOf } from "./deck.js";
import { local } from "./storage.js";
import * as words from "./words.js";
import { saying } from "../sayings.js";

const EVERY_MS = 5000;

export function addMeanwhile(desk) {
  const { root, donorPlace, recent, accepted, heads, deck, outbox } = desk;
  const url = root.dataset.meanwhile;
  const saved = `anchorline:saved:${root.dataset.owner}`;
  let isAsking = false;
  let isDue = false; // once more, when what is being asked for has come
  let shown = {}; // the card that was open, and the newest decision of all, when it was asked last

  // What is not saved yet, or comes back, the server does not know of.
  const isQuiet = () => !outbox.size && !desk.waiting && !document.hidden && !document.querySelector("[data-dialog]")?.open;

  // `ifNewer`: only what has come since, if this card was open then.
  async function refresh(ifNewer = false) {
    if (!outbox || !url || !isQuiet()) return;
    isDue = isAsking;
    if (isAsking) return;
    isAsking = true;
    const [item, changes] = [deck.current, outbox.changes];
    const query = new URLSearchParams(root.dataset.query);
    if (item) query.set("edge", item.edge);
    if (ifNewer === true && shown.item === item) query.set("seen", shown.mark);
    const response = await ask(`${url}?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
    const found = response?.ok && !response.redirected ? await response.json().catch(() => null) : null;
    isAsking = false;
    if (found && isQuiet() && outbox.changes === changes) {
      const isShown = !found.counts || show(found, item);
      shown = isShown ? { item, mark: found.mark } : {};
    }
    if (isDue) refresh();
  }

  // False where something stays as it is, since the focus is in it.
  function show({ recent: lines, counts, group, head, closed }, item) {
    const isFree = recent.renew(lines) && !donorPlace.contains(document.activeElement);
    if (head && isFree && (heads.get(group) !== head || accepted.get(group))) {
      heads.set(group, head);
      accepted.delete(group);
      if (donorPlace.dataset.ofGroup === String(group)) delete donorPlace.dataset.ofGroup;
    }
    if (closed && item === deck.current && item.node.dataset.state === "suggested") close(item, closed);
    desk.onCounts(counts);
    return isFree;
  }

  // The open card has been decided elsewhere. What somebody writes in it stays: the server says more once it is sent.
  function close(item, closed) {
    if (item.isSaidClosed) return;
    item.isSaidClosed = true;
    if (!words.isTouched(item.node)) item.node = itemOf(closed).node;
    desk.say(saying("decided-meanwhile"), true);
  }

  // The editor's other windows hear of it.
  function noteSaved() { local.set(saved, `${Date.now()} ${outbox.tab}`); }

  if (outbox && url) {
    setInterval(() => refresh(true), EVERY_MS);
    addEventListener("storage", ({ key }) => { if (key === saved) refresh(); });
    addEventListener("focus", refresh);
    document.addEventListener("visibilitychange", refresh);
  }
  Object.assign(desk, { refresh, noteSaved });
}
