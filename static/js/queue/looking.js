// What could not be saved, and is looked at again.

import * as words from "./words.js";
import { saying } from "../sayings.js";

export function addLooking(desk) {
  const { recent, done, look, deck, held, refused } = desk;

  function needsLook(item, operation, { result, message }) {
    look.set(item.edge, { item, key: operation.key });
    recent.putBack({ key: operation.key, edge: item.edge, label: operation.label }, result, message);
    refused.keep({ operation, label: operation.label, result, message });
    desk.paintLook();
  }

  // Another card is shown. One that was looked at and left as it was still needs another look.
  function lookedAway(edge) {
    const left = refused?.entries.get(edge);
    if (!left || look.has(edge)) return;
    const { operation, label, result, message } = left;
    look.set(edge, { item: deck.items.find((item) => item.edge === edge) || null, key: operation.key });
    recent.putBack({ key: operation.key, edge, label }, result, message);
    desk.paintLook();
  }

  // Nothing is left to look at: the card was decided anew, or is as it came.
  function settle(edge) {
    look.delete(edge);
    refused?.drop(edge);
    desk.paintLook();
  }

  // The first that could not be saved comes back as the open card.
  function lookAgain(edge = look.keys().next().value) {
    const found = look.get(edge);
    if (!found) return;
    look.delete(edge);
    desk.paintLook();
    recent.remove(found.key);
    const at = done.findIndex((entry) => entry.key === found.key);
    if (at >= 0) done.splice(at, 1);
    if (found.item) return openAgain(found.item);
    desk.waitFor(edge, found.key, (items) => lookedUp(edge, items));
    desk.fetchCard();
  }

  function openAgain(item) {
    deck.insert(item);
    if (item.node.dataset.state !== "suggested") refused?.drop(item.edge); // there is nothing to do but to read it
    desk.paint();
    item.node.focus({ preventScroll: true });
    if (item.node.querySelector("[data-accept]")) words.check(item.node); // where its words would go
  }

  // The card of what could not be saved before the page was loaded again.
  function lookedUp(edge, [item]) {
    const { operation, message } = refused.entries.get(edge);
    desk.stopWaiting();
    if (!item) settle(edge);
    else {
      words.write(item.node, operation);
      openAgain(item);
    }
    desk.say(saying("not-saved", { message }), true);
    held.pump();
  }

  // They are offered again: in the list of the last decisions, and in the bar's count. The one that the address names
  // is open.
  function offerAgain(entries) {
    const asked = Number(new URLSearchParams(location.search).get("at"));
    for (const { operation, label, result, message } of entries) {
      const { key, edge } = operation;
      const item = deck.items.find((other) => other.edge === edge);
      if (item && edge === asked) {
        words.write(item.node, operation);
        desk.say(saying("not-saved", { message }), true);
        continue;
      }
      deck.gone.add(edge);
      if (item) deck.remove(item);
      recent.putBack({ key, edge, label }, result, message);
      look.set(edge, { item: null, key });
    }
    desk.paintLook();
    if (entries.length) desk.paint();
  }

  Object.assign(desk, { needsLook, lookedAway, settle, lookAgain, offerAgain });
}
