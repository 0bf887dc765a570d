// The review queue. One card is open at a fixed place; what is decided leaves the page at once and is sent in the
// background (outbox.js); the next cards are there before they are needed (deck.js). Every control is a form or a link
// that works without this file; the keys press them.

import { addAnswers } from "./answers.js";
import { addDeciding } from "./deciding.js";
import { Deck } from "./deck.js";
import { HeldKeys, isField } from "./held.js";
import { listen } from "./keys.js";
import { addLooking } from "./looking.js";
import { addMeanwhile } from "./meanwhile.js";
import { listenForOpinions } from "./opinions.js";
import { Outbox } from "./outbox.js";
import { watch } from "./presence.js";
import * as reach from "./reach.js";
import { Recent } from "./recent.js";
import { Refused } from "./refused.js";
import { addScreen } from "./screen.js";
import { addSeen } from "./seen.js";
import { saying } from "../sayings.js";
import { addUndoing } from "./undoing.js";
import { addUnsaved } from "./unsaved.js";
import * as words from "./words.js";

const STOPS_FOR_MS = 500; // after a card that warns was not accepted, keys that may be meant for the next do nothing

const find = (selector) => document.querySelector(selector);
const countIn = (selector) => Number((find(selector)?.textContent || "").replace(/\D/g, ""));
const root = document.querySelector("[data-review]");

// Without a list to review there are still filters, keys to see them, and a search.
listen({ review: root ? review(root) : null });

// What the parts of the queue share; each adds the functions that the others call.
function deskOf(root) {
  const decides = root.hasAttribute("data-decides");
  const desk = {
    root, decides,
    place: root.querySelector("[data-card]"),
    donorPlace: root.querySelector("[data-donor-place]"),
    next: root.querySelector("[data-next]"),
    recent: new Recent(root),
    done: [], // what can be undone: { key, item, decision, verb }
    look: new Map(), // by edge: what could not be saved, { item, key }
    accepted: new Map(), // by group: accepted here since its head was first shown
    heads: new Map(), // by group: that head
    shownEdge: null, // of the card that is open
    comesBack: false, // from another page, to a card that is on its way: no other is shown
    waiting: null, // for a card that comes back: { edge, key } of what is sent for it, and what is done then
    menu: {}, // by list, how many it holds: what the server said last
    counts: { left: countIn("[data-left]"), today: countIn("[data-today]") },
    isBound: Boolean(find("[data-left]")?.textContent.includes("+")), // counting stopped at what is left: there may be more
  };
  desk.deck = new Deck({ url: root.dataset.deck, query: root.dataset.query, cursor: root.dataset.cursor, wraps: new URLSearchParams(location.search).has("at"), onArrival: () => { desk.paint(); desk.held.pump(); } });
  desk.held = new HeldKeys(() => !desk.waiting && (desk.deck.current || !desk.deck.waits));
  desk.outbox = decides && new Outbox({
    url: root.dataset.operations, query: root.dataset.query, owner: root.dataset.owner,
    token: JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"],
    held: () => desk.deck.items.map((item) => item.edge),
    onAnswer: (...answered) => desk.onAnswer(...answered), onChanged: (cards) => desk.onChanged(cards),
    onCounts: (counts) => desk.onCounts(counts), onState: (state) => desk.paintState(state),
  });
  desk.refused = desk.outbox ? new Refused({ owner: root.dataset.owner, tab: desk.outbox.tab }) : null;
  for (const add of [addScreen, addSeen, addMoving, addDeciding, addUndoing, addLooking, addAnswers, addUnsaved, addMeanwhile]) add(desk);
  return desk;
}

function addMoving(desk) {
  const { root, deck } = desk;

  // The first lines come with the page, and their cards behind it.
  function open(edge) {
    if (deck.open(edge)) return desk.paint();
    location.href = root.dataset.edgeUrl.replace("/0/", `/${edge}/`);
  }

  function move(step) {
    const left = deck.current;
    const hasMoved = deck.move(step);
    if (!desk.forgetRead(left) && !hasMoved) return;
    desk.paint();
    deck.current?.node.focus({ preventScroll: true });
  }

  Object.assign(desk, { open, move });
}

function review(root) {
  const desk = deskOf(root);
  const { decides, deck, held, outbox } = desk;
  begin(desk);
  listenToThePage(desk);
  return {
    get card() { return deck.current?.node || null; },
    get keysWait() { return held.wait; },
    whenReady: (...key) => held.add(...key),
    undo: () => { if (outbox) desk.undo(); },
    lookAgain: desk.lookAgain, giveUp: desk.giveUp,
    canMoveOn: () => !deck.waits || deck.following().length > 0,
    move: desk.move,
    hasJustStopped: () => performance.now() - (desk.stoppedAt ?? -Infinity) < STOPS_FOR_MS,
    isClosed: (card) => decides && !card.querySelector("[data-accept]"),
    say: (text) => desk.say(text, true),
    sayClosed: () => desk.say(saying("closed"), true),
    flushed: () => outbox.whenSaved(),
    reset() { const item = deck.current; if (item) { words.reset(item.node); desk.settle(item.edge); } },
  };
}

function begin(desk) {
  const { root, place, donorPlace, heads, deck, outbox, refused } = desk;
  const first = place.querySelector("[data-edge]");
  if (first) {
    deck.items.push({
      edge: Number(first.dataset.edge), source: Number(first.dataset.source), group: Number(first.dataset.ofGroup), head: donorPlace.innerHTML,
      cursor: root.dataset.cursor, node: first, line: document.createElement("li"),
    });
    donorPlace.dataset.ofGroup = first.dataset.ofGroup;
    heads.set(Number(first.dataset.ofGroup), donorPlace.innerHTML);
    desk.shownEdge = Number(first.dataset.edge);
    first.classList.add("is-current");
    reach.recall(first);
    first.focus({ preventScroll: true });
    words.sayWhere(first);
  } else {
    deck.hasMore = false;
  }

  if (outbox) {
    listenForOpinions({ root, deck, outbox, leave: desk.leave });
    watch(root, outbox.token);
    if (root.dataset.deck) desk.dropAnswered();
    desk.dropFromDeck(outbox.operations);
    if (root.dataset.deck) desk.offerAgain([...refused.entries.values()]);
    desk.offerWhatOthersLeft();
    desk.paintState(outbox.size ? "saving" : "saved");
    outbox.flush();
  }
  desk.beginSeen();
  deck.fill();
}

function listenToThePage(desk) {
  const { root, deck, held } = desk;
  root.addEventListener("submit", (event) => {
    const form = event.target;
    const line = form.matches("[data-undo-card]") && desk.recent.savedOf(deck.current?.edge);
    if (line) {
      event.preventDefault();
      return held.add(() => desk.undoOf(line));
    }
    if (!form.matches("[data-accept], [data-reject-form], [data-later], [data-undo]")) return;
    event.preventDefault();
    if (form.matches("[data-later]")) desk.later(form);
    else if (form.matches("[data-undo]")) held.add(() => desk.undoOf(form.closest("[data-recent] > li")));
    else desk.decide(form, event.submitter);
  });

  find("[data-undo-last]")?.addEventListener("submit", (event) => { event.preventDefault(); held.add(() => desk.undo()); });
  find("[data-look]")?.addEventListener("click", () => desk.lookAgain());

  root.addEventListener("click", (event) => {
    if (event.target.closest("[data-look-again]")) return desk.lookAgain();
    // The second half of a double click would decide on the next card, which nobody has read.
    if (event.detail > 1 && event.target.closest("button")?.form?.matches("[data-accept], [data-reject-form], [data-later]")) {
      event.preventDefault();
      return;
    }
    const line = event.target.closest("[data-line]");
    if (line && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const edge = Number(line.dataset.line);
      held.add(() => desk.open(edge), () => !deck.loading || deck.items.some((item) => item.edge === edge));
    }
  });

  root.addEventListener("change", (event) => {
    const card = event.target.closest("[data-edge]");
    if (event.target.matches("[data-pick]")) words.pick(card, event.target);
    if (event.target.matches("[data-where]")) words.place(card);
    if (event.target.matches("[name=reach]")) reach.remember(event.target);
  });
  root.addEventListener("input", (event) => {
    const card = event.target.closest("[data-edge]");
    if (card && isField(event.target)) card.dataset.typed = "1";
    if (event.target.matches("[data-anchor]")) words.type(card);
  });
  // A key that waits for its card is kept nowhere, and neither is what is typed and not sent: who leaves now is asked.
  const isTyped = (item) => item.isMade !== false && words.isTyped(item.node);
  addEventListener("beforeunload", (event) => { if (held.wait || deck.items.some(isTyped)) event.preventDefault(); });
  root.addEventListener("pointerup", () => { if (deck.current) setTimeout(takeSelection, 0); });
  const takeSelection = () => { if (!words.takeSelection(deck.current.node)) desk.say(saying("in-a-link"), true); };
}
