// The keys of the queue. Letters rest while a field has the focus, and while a dialog is open.

import * as words from "./words.js";

const press = (root, selector) => root?.querySelector(selector)?.click();
const rejecting = (card) => card?.querySelector("[data-reject][open]");
const isField = (element) => element.matches?.("input:not([type=radio], [type=checkbox]), select, textarea");
const dialog = () => document.querySelector("[data-dialog]");

function openReject(card) {
  const details = card.querySelector("[data-reject]");
  if (!details) return;
  details.open = true;
  details.querySelector("[data-do]").focus();
}

function editAnchor(card) {
  const field = words.anchorField(card);
  field?.focus();
  field?.select();
}

function elsewhere(card) {
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
  const anchor = turn === link.dataset.donorText ? words.anchorField(card)?.value || "" : "";
  htmx.ajax("GET", `${turn}?${new URLSearchParams({ words: anchor })}`, { target: place, swap: "innerHTML" });
}

// What a key does to the open card.
const ON_CARD = {
  a: (card) => press(card, "[data-do=accept]"),
  f: (card) => press(card, "[data-rel=follow]"),
  n: (card) => press(card, "[data-rel=nofollow]"),
  g: (card) => press(card, "[data-rel=ugc]"),
  y: (card) => { if (!card.querySelector("[data-do=anyway]")?.hidden) press(card, "[data-do=anyway]"); },
  x: (card) => (rejecting(card) ? press(card, "[data-do=reject]") : openReject(card)),
  e: editAnchor,
  w: elsewhere,
  s: (card) => press(card, "[data-later] button"),
  p: readPages,
  t: (card) => press(card, "[data-open-target]"),
};

function cardKey(event) {
  if (/^[1-8]$/.test(event.key)) {
    return (card) => (rejecting(card) ? press(card, `[data-reason="${event.key}"]`) : pick(card, Number(event.key)));
  }
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    return (card) => words.moveEnd(card, step, event.shiftKey);
  }
  return ON_CARD[event.key];
}

export function listen({ review }) {
  const ON_LIST = {
    u: () => review.undo(),
    r: () => review.lookAgain(),
    j: () => review.move(1),
    k: () => review.move(-1),
    o: () => press(document, "[data-open-donor]"),
    A: () => press(document, "[data-group]"),
  };
  const ON_PAGE = {
    "/": () => document.querySelector("[data-search]")?.focus(),
    "?": () => press(document, "[data-keys] > summary"),
  };

  function onKey(event) {
    if (event.isComposing || event.altKey || dialog()?.open) return;
    const field = isField(event.target);
    if (event.key === "Escape") return leave(event.target);
    if (field && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return event.target.form.requestSubmit(event.target.form.matches("[data-accept]") ? document.querySelector(`[form="${event.target.form.id}"][data-do]`) : undefined);
    }
    if (field || event.ctrlKey || event.metaKey || (event.repeat && !event.key.startsWith("Arrow"))) return;
    if (ON_PAGE[event.key]) act(event, ON_PAGE[event.key]);
    else if (review && ON_LIST[event.key]) act(event, () => review.whenReady(ON_LIST[event.key], event.key === "j" ? review.canMoveOn : undefined, event.key));
    else if (review && cardKey(event) && !(event.key.startsWith("Arrow") && event.target.matches("[type=radio]"))) {
      const onCard = cardKey(event);
      act(event, () => review.whenReady(() => { if (review.card) onCard(review.card); }, undefined, event.key));
    }
  }

  function act(event, doIt) {
    if (event.cancelable) event.preventDefault();
    doIt();
  }

  // Esc leaves a field, closes what is open, and gives the card the focus again.
  function leave(element) {
    if (element.matches("[data-anchor]")) review?.reset();
    for (const open of document.querySelectorAll("[data-reject][open], .queuebar__menu[open]")) open.open = false;
    element.blur();
    review?.card?.focus({ preventScroll: true });
  }

  document.removeEventListener("keydown", window.keepKey);
  document.addEventListener("keydown", onKey);
  for (const event of window.earlyKeys.splice(0)) onKey(event);

  // The preview of a group is a dialog of its own; what is unsaved goes first.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== dialog()) return;
    dialog().showModal();
    dialog().querySelector(".button--primary, [data-cancel]")?.focus();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]") || !dialog()?.contains(event.target)) return;
    event.preventDefault();
    dialog().close();
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-accept-group]") || !review || form.dataset.goes) return;
    event.preventDefault();
    await review.flushed();
    form.dataset.goes = "1";
    form.submit();
  });

  // A menu of the bar closes when the pointer goes elsewhere.
  document.addEventListener("pointerdown", (event) => {
    for (const open of document.querySelectorAll(".queuebar__menu[open]")) if (!open.contains(event.target)) open.open = false;
  });
  document.querySelector("[data-filters]")?.addEventListener("change", (event) => {
    if (event.target.matches("select, [type=checkbox]")) event.target.form.requestSubmit();
  });
}
