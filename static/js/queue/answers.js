// What the server answers to what was sent.

import { itemOf } from "./deck.js";
import { notSaid } from "./opinions.js";
import * as words from "./words.js";
import { saying } from "../sayings.js";

const find = (selector) => document.querySelector(selector);

export function addAnswers(desk) {
  const { recent, done, counts, deck, outbox } = desk;

  function onAnswer(operation, answer) {
    if (operation.kind === "undo") desk.undone(operation, answer);
    else answered(operation, answer);
    if (answer.result === "saved") desk.noteSaved();
    if (desk.waiting?.key === operation.key) desk.fetchCard();
  }

  function answered(operation, answer) {
    if (operation.kind === "comment" && answer.result !== "saved") { notSaid(operation, answer); desk.say(saying("not-saved", { message: answer.message }), true); }
    recent.mark(operation.key, answer.result, answer.message, answer.verb, answer.decision);
    recent.removeOld(answer.decision);
    const at = done.findIndex((entry) => entry.key === operation.key);
    if (at >= 0) done[at].decision = answer.decision;
    if (answer.result === "saved") return at >= 0 && hide(done[at], answer.hidden || []);
    if (at < 0) return; // it was undone in the meantime
    const [entry] = done.splice(at, 1);
    desk.bringBackHidden(entry);
    const back = openCards(answer);
    const item = entry.item || back[0]; // none where it was decided before this page was loaded
    if (operation.kind === "decide") counts.today -= 1;
    if (entry.item) desk.countAccepted(item, entry.verb, -1);
    if (back.length) counts.left += 1;
    if (back.length) words.write(back[0].node, operation); // or the editor's words would be lost
    if (back.length) desk.needsLook({ ...back[0], head: back[0].head || item.head }, operation, answer);
    else if (item) desk.needsLook({ ...item, node: closed(answer, item) }, operation, answer);
    desk.say(saying("not-saved-of", { ...entry.label, message: answer.message }));
    desk.paint();
  }

  const openCards = (answer) => answer.cards.filter((card) => card.open).map(itemOf);

  // What a rejection ruled out leaves the list; the open card stays under the hands of who is deciding on it.
  function hide(entry, edges) {
    const out = deck.takeOut((item) => edges.includes(item.edge) && item !== deck.current);
    (entry.hidden ??= []).push(...out);
    if (out.length) desk.paint();
  }

  // What is left of a card that somebody else has decided: what the server says of it.
  function closed(answer, item) {
    return answer.cards.length ? itemOf(answer.cards[0]).node : item.node;
  }

  // A decision gives other suggestions of the same acceptor other words, or a warning. The
  // card that the editor has begun to change stays as it is: the server has the last word on it.
  function onChanged(changed) {
    for (const found of changed) {
      const item = deck.items.find((other) => other.edge === found.edge);
      if (!item || (item === deck.current && words.isTouched(item.node))) continue;
      const fresh = itemOf(found);
      Object.assign(item, { node: fresh.node, line: fresh.line });
    }
    if (changed.length) desk.paint();
  }

  function onCounts({ left, more, today, percent, menu }) {
    if (outbox.size) return;
    desk.menu = menu;
    desk.paintMenu();
    desk.isBound = Boolean(more);
    Object.assign(counts, { left, today });
    const bar = find("[data-progress]");
    if (bar) bar.value = percent;
    desk.paint();
  }

  Object.assign(desk, { onAnswer, openCards, closed, onChanged, onCounts });
}
