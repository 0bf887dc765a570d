// What the keys of the queue do; which key does it says the page (review/queue/keys.py). Letters rest while a field has the
// focus, and while a dialog is open.

import { isField } from "./held.js";
import { openAsk } from "./opinions.js";
import { saying } from "../sayings.js";
import * as words from "./words.js";

const press = (root, selector) => root?.querySelector(selector)?.click();
const rejecting = (card) => card?.querySelector("[data-reject][open]");
const dialog = () => document.querySelector("[data-dialog]");

// Where no suggestion of the group is ticked, there is nothing to accept.
function paintTicked(preview) {
  const says = preview.querySelector("[data-none-ticked]");
  if (!says) return;
  const isNone = !preview.querySelector("[name=edge]:checked");
  says.hidden = !isNone;
  preview.querySelector(".button--primary").disabled = isNone;
}

function openReject(card) {
  const details = card.querySelector("[data-reject]");
  if (!details) return;
  const widely = details.querySelector("[data-widely]");
  if (widely) widely.checked = false; // a step of its own each time
  details.open = true;
  details.querySelector("[data-do]").focus();
}

function editAnchor(card) {
  const field = words.anchorField(card);
  field?.focus();
  field?.select();
}

// Where the link goes; while a reason is chosen, how far that reaches.
function elsewhere(card) {
  const widely = rejecting(card)?.querySelector("[data-widely]");
  if (widely) {
    widely.checked = !widely.checked;
    return;
  }
  const places = [...card.querySelectorAll("[data-where]")];
  places[(places.findIndex((place) => place.checked) + 1) % places.length]?.click();
}

function pick(card, place) {
  const radio = card.querySelectorAll("[data-pick]")[place - 1];
  if (radio) words.pick(card, radio);
}

// The acceptor's text first, then the donor's, then none.
function readPages(card) {
  const link = card.querySelector("[data-page-text]");
  const place = document.querySelector("[data-page-text-place]");
  const showing = place.dataset.showing || "";
  const turn = showing === link.dataset.pageText ? link.dataset.donorText : showing === link.dataset.donorText ? "" : link.dataset.pageText;
  place.dataset.showing = turn;
  place.hidden = !turn;
  if (!turn) return place.replaceChildren();
  const query = turn === link.dataset.donorText ? words.queryOf(card) : "words=";
  htmx.ajax("GET", `${turn}?${query}`, { target: place, swap: "innerHTML" });
}

// What an action does to the open card.
const ON_CARD = {
  accept: (card) => press(card, "[data-do=accept]"),
  follow: (card) => press(card, "[data-rel=follow]"),
  nofollow: (card) => press(card, "[data-rel=nofollow]"),
  ugc: (card) => press(card, "[data-rel=ugc]"),
  anyway: (card) => { if (!card.querySelector("[data-do=anyway]")?.hidden) press(card, "[data-do=anyway]"); },
  reject: (card) => (rejecting(card) ? press(card, "[data-do=reject]") : openReject(card)),
  edit: editAnchor,
  elsewhere,
  beside: (card) => press(card, "[data-where][value=beside]"),
  later: (card) => press(card, "[data-later] button"),
  ask: openAsk,
  read: readPages,
  acceptor: (card) => press(card, "[data-open-target]"),
};
const READS = ["read", "acceptor"]; // what can be done to a card that is closed
const MEANT_FOR_WARNINGS = ["anyway", "edit", ...READS]; // what is done to a card because it warns
const SLOW_MS = 500; // after which a dialog says what it waits for
const actions = new Map(Object.entries(JSON.parse(document.getElementById("keys").textContent)));

function cardKey(event) {
  if (/^[1-9]$/.test(event.key)) {
    return (card) => (rejecting(card) ? press(card, `[data-reason="${event.key}"]`) : pick(card, Number(event.key)));
  }
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    return (card, review) => { if (!words.moveEnd(card, step, event.shiftKey)) review.say(saying("in-a-link")); };
  }
  return ON_CARD[actions.get(event.key)];
}

function send(field) {
  field.form.requestSubmit(field.form.matches("[data-accept]") ? document.querySelector(`[form="${field.form.id}"][data-do]`) : undefined);
}

// What the browser would do, had the key not waited.
function enter() {
  const at = document.activeElement;
  if (isField(at) && at.form) send(at);
  else if (at.matches("button, summary, a")) at.click();
}

export function listen({ review }) {
  const ON_LIST = {
    undo: () => review.undo(),
    look: () => review.lookAgain(),
    next: () => review.move(1),
    previous: () => review.move(-1),
    donor: () => press(document, "[data-open-donor]"),
    group: () => press(document, "[data-group]"),
  };
  const ON_PAGE = {
    search: () => document.querySelector("[data-search]")?.focus(),
    help: () => press(document, "[data-keys] > summary"),
  };

  let opens = false; // whether a preview of a group is on its way: it takes the keys that follow, however long it takes

  // `isLate`: it was pressed before this script had come, and the browser has done with it.
  function onKey(event, isLate = false) {
    if (event.isComposing || event.altKey || dialog()?.open) return;
    const field = isField(event.target);
    if (event.key === "Escape") return leave(event.target);
    if (opens) return;
    if (document.querySelector(".queuebar__menu[open]") && actions.get(event.key) !== "help") return; // what is under it is not decided
    if (field && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return send(event.target);
    }
    if (event.key === "Enter" && event.target.matches("[data-ask] select")) {
      event.preventDefault();
      return event.target.form.requestSubmit();
    }
    if (field || event.ctrlKey || event.metaKey || (event.repeat && !event.key.startsWith("Arrow"))) return;
    const action = actions.get(event.key);
    if (ON_PAGE[action]) act(event, ON_PAGE[action]);
    else if (review && ON_LIST[action]) act(event, () => review.whenReady(ON_LIST[action], action === "next" ? review.canMoveOn : undefined, event.key));
    else if (review && cardKey(event) && !(event.key.startsWith("Arrow") && event.target.matches("[type=radio]"))) {
      act(event, () => review.whenReady(() => onCard(action, cardKey(event)), undefined, event.key));
    } else if (review && (review.keysWait || isLate) && (event.key.length === 1 || event.key === "Enter")) {
      act(event, () => review.whenReady(event.key === "Enter" ? enter : () => {}, undefined, event.key)); // for what one of them may open
    }
  }

  // A card that is closed is there to be read. The key was meant for it, and decides no other.
  function onCard(action, doIt) {
    if (!review.card) return;
    const second = review.card.querySelector(`[data-second-do="${action}"]`); // of an accepted link that waits for one
    if (!MEANT_FOR_WARNINGS.includes(action) && review.hasJustStopped()) return;
    const why = review.card.querySelector("[data-not-second]")?.textContent.trim(); // this reader may not be it
    if (second) second.click();
    else if (why && ["accept", "anyway", "reject"].includes(action)) review.say(why);
    else if (review.isClosed(review.card) && !READS.includes(action)) review.sayClosed();
    else doIt(review.card, review);
  }

  function act(event, doIt) {
    if (event.cancelable) event.preventDefault();
    doIt();
  }

  // Esc leaves a field, closes what is open, and gives the card the focus again.
  function leave(element) {
    if (element.matches("[data-anchor]")) review?.reset();
    for (const open of document.querySelectorAll("[data-reject][open], [data-ask][open], .queuebar__menu[open]")) open.open = false;
    for (const more of document.querySelectorAll("[data-more]")) more.setAttribute("aria-expanded", "false");
    opens = false;
    review?.giveUp();
    element.blur();
    review?.card?.focus({ preventScroll: true });
  }

  document.removeEventListener("keydown", window.keepKey);
  document.addEventListener("keydown", onKey);
  for (const event of window.earlyKeys.splice(0)) onKey(event, true);

  // The preview of a group is a dialog of its own. Esc leaves it before it is there, too.
  document.addEventListener("click", (event) => {
    if (dialog() && event.target.closest("[data-group]") && !event.ctrlKey && !event.metaKey && !event.shiftKey) opens = true;
  });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.target.matches("[data-group]") && !event.detail.successful) opens = false; });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== dialog() || !opens) return;
    opens = false;
    dialog().showModal();
    paintTicked(dialog());
    dialog().querySelector(".button--primary:enabled")?.focus();
    if (!dialog().contains(document.activeElement)) dialog().querySelector("[name=edge], [data-cancel]")?.focus();
  });
  document.addEventListener("change", (event) => { if (dialog()?.contains(event.target)) paintTicked(dialog()); });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]") || !dialog()?.contains(event.target)) return;
    event.preventDefault();
    dialog().close();
  });
  // What is unsaved goes first, and the list goes on behind the card that is open. Who has closed the preview by then has not accepted the group.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-accept-group]") || !review) return;
    event.preventDefault();
    if (form.dataset.goes) return;
    form.dataset.goes = "1";
    const slow = setTimeout(() => { form.querySelector("[data-waits]").textContent = saying("group-waits"); }, SLOW_MS);
    await review.flushed();
    clearTimeout(slow);
    if (!form.isConnected || !dialog().open) return;
    form.querySelector("[data-at]").value = review.card?.dataset.edge ?? "";
    form.submit();
  });

  // On a phone, the actions that are needed less often.
  document.addEventListener("click", (event) => {
    const more = event.target.closest("[data-more]");
    more?.setAttribute("aria-expanded", String(more.getAttribute("aria-expanded") !== "true"));
  });

  // A menu of the bar closes when the pointer goes elsewhere.
  document.addEventListener("pointerdown", (event) => {
    for (const open of document.querySelectorAll(".queuebar__menu[open]")) if (!open.contains(event.target)) open.open = false;
  });
}
