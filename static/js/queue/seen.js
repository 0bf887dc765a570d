// The cards that were open, each an entry of the browser's history: Back and Forward show a card as it stands now, and
// take nothing back.

import { NO_DECISIONS } from "./deciding.js";
import { newKey } from "./outbox.js";
import { saying } from "../sayings.js";
import * as words from "./words.js";

const DECIDES = ["decide", "aside", "back", "ask"]; // operations after which the server's card is another

export function addSeen(desk) {
  const { root, done, look, deck, held, outbox } = desk;
  let isLed = false; // by the browser, which has the entry already

  function note(card, into = "pushState") {
    if (isLed || !root.dataset.deck || history.state?.card === card) return;
    try {
      history[into]({ card }, "");
    } catch {
      // Some browsers take no more than a hundred in half a minute: Back passes over this card.
    }
  }

  function led(act) {
    isLed = true;
    act();
    isLed = false;
  }

  // A card that is closed, or that was put off here, was shown to be read, and is not kept.
  function forgetRead(item) {
    const isRead = item && (item.node.dataset.state !== "suggested" || (item.isPutOff && !words.isTouched(item.node)));
    if (!isRead || !root.dataset.deck) return false;
    deck.remove(item);
    desk.settle(item.edge);
    return true;
  }

  // Whoever comes back from another page finds the card they left. Until it is there no other is shown, or a key that is
  // meant for one would hit the other; a key that was pressed before this script had come was meant for the page's own.
  // A page that was loaded again begins with the first of the list, as another does.
  function begin() {
    const { card, isBack } = history.state ?? {};
    const comesBack = isBack || performance.getEntriesByType?.("navigation")[0]?.type === "back_forward";
    if (comesBack && card && card !== deck.current?.edge && !look.has(card) && !window.earlyKeys.length) {
      history.replaceState({ card }, "");
      held.add(() => seeAgain(card));
      desk.comesBack = Boolean(desk.waiting);
      desk.paint();
    } else if (deck.current) {
      note(deck.current.edge, "replaceState");
    }
  }

  // A page that the browser had kept is loaded again: see app.js.
  addEventListener("pageshow", (event) => { if (event.persisted) history.replaceState({ ...history.state, isBack: true }, ""); });

  // 0 is the end of the list.
  function seeAgain(card) {
    const left = deck.current;
    if (left?.edge === card) return;
    if (look.has(card)) return led(() => desk.lookAgain(card));
    if (!card || deck.open(card)) {
      forgetRead(left);
      led(() => desk.paint());
      return deck.current?.node.focus({ preventScroll: true });
    }
    const unsaved = (outbox ? outbox.operations : []).filter(({ edge, kind }) => edge === card && DECIDES.includes(kind)).at(-1);
    desk.waitFor(card, unsaved?.key ?? newKey(), (items) => arrived(card, items));
    if (!unsaved) desk.fetchCard();
  }

  function arrived(card, [item]) {
    desk.stopWaiting();
    if (look.has(card)) led(() => desk.lookAgain(card));
    else if (!item) {
      desk.paint();
      desk.say(saying("gone"), true);
    } else {
      const left = deck.current;
      item.isPutOff = done.some(({ item: other, verb }) => other?.edge === card && NO_DECISIONS.includes(verb));
      deck.insert(item);
      forgetRead(left);
      led(() => desk.paint());
      item.node.focus({ preventScroll: true });
    }
    held.pump();
  }

  if (root.dataset.deck) addEventListener("popstate", ({ state }) => { if (state && "card" in state) held.add(() => seeAgain(state.card)); });
  Object.assign(desk, { noteShown: note, forgetRead, beginSeen: begin });
}
