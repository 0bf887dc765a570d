// The review queue. Every control is a form or a link that works without this file; the keys press them.
// Writes leave one after the other, so that an undo never overtakes the decision it takes back, and counters never
// run backwards.

const list = document.querySelector("[data-queue]");

// -------------------------------------------------------------------------------------------- the current card

let currentId = null;
const current = () => (currentId && document.getElementById(currentId)) || null;
const cards = () => [...list.querySelectorAll("[data-edge]")];
const isOpen = (card) => card.dataset.state === "suggested";

function makeCurrent(card, { focus = true } = {}) {
  current()?.classList.remove("is-current");
  currentId = card ? card.id : null;
  if (!card) return;
  card.classList.add("is-current");
  if (!focus) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

function neighbour(card, direction, wanted = () => true) {
  const all = cards();
  const start = card ? all.indexOf(card) : -1;
  for (let at = start + direction; at >= 0 && at < all.length; at += direction) if (wanted(all[at])) return all[at];
  return null;
}

// To the next open card; where none is loaded, more is fetched (see htmx:afterSettle); else to an open one above.
function goOn(card) {
  const next = neighbour(card, 1, isOpen);
  if (next) return makeCurrent(next);
  makeCurrent(card);
  const more = list.querySelector("[data-more]");
  if (more) more.click();
  else makeCurrent(neighbour(card, -1, isOpen) || card);
}

// -------------------------------------------------------------------------------------------- writing

const PAINTED = { accept: ["accepted", "Accepted"], anyway: ["accepted", "Accepted"], reject: ["rejected", "Rejected"], reopen: ["suggested", "To review"] };
let sending = Promise.resolve();
let pressed = 0; // keys that did something
let answer = null; // what is known of the answer under way: { failed, refused, cards }

function paint(card, verb) {
  const [state, word] = PAINTED[verb];
  card.dataset.state = state;
  card.querySelector(".edge__verdict").textContent = word;
}

// Sends what the form says now. Resolves with what came back, once everything sent before has been answered.
function send(form, button) {
  const values = new FormData(form, button);
  const path = form.getAttribute("action");
  const turn = sending.then(async () => {
    answer = { failed: false, refused: false, cards: [] };
    await htmx.ajax("POST", path, { values, target: list, swap: "none" }).catch(() => { answer.failed = true; });
    return answer;
  });
  sending = turn;
  return turn;
}

async function decide(form, button) {
  const card = form.closest("[data-edge]");
  if (!isOpen(card)) return;
  const sent = send(form, button);
  paint(card, button.value.split(":")[0]);
  goOn(card);
  const there = currentId;
  const before = pressed;
  const { failed, refused } = await sent;
  const now = document.getElementById(card.id);
  if (failed) paint(now, "reopen");
  // A card that only asks back waits for who has gone on: the next keys are meant for other cards.
  const hasGoneOn = pressed !== before || currentId !== there || isField(document.activeElement);
  if (failed || (refused && !(hasGoneOn && asks(now)))) makeCurrent(now);
  if (refused) now.querySelector("[aria-invalid]")?.focus();
  settle();
}

async function undo(form, button) {
  const { cards: touched, failed } = await send(form, button);
  if (!failed && touched.length) makeCurrent(document.getElementById(touched[0]));
  settle();
}

async function acceptGroup(form, button) {
  const last = [...form.closest(".group, [data-queue]").querySelectorAll("[data-edge]")].at(-1);
  await send(form, button);
  const now = last && document.getElementById(last.id);
  if (now) makeCurrent(neighbour(now, 1, isOpen) || now);
  settle();
}

// After a swap the current card is marked again, and has the focus unless the reader took it elsewhere.
function settle() {
  const card = current();
  if (card) makeCurrent(card, { focus: document.activeElement === document.body });
}

const WRITES = { "[data-decide]": decide, "[data-undo], [data-undo-last]": undo, "[data-accept-group]": acceptGroup };

const defaultButton = (form) => [...form.elements].find((element) => element.type === "submit");

document.addEventListener("submit", (event) => {
  const form = event.target;
  const found = Object.keys(WRITES).find((selector) => form.matches(selector));
  if (!found) return;
  event.preventDefault();
  WRITES[found](form, event.submitter || defaultButton(form));
});

// -------------------------------------------------------------------------------------------- the server's answers

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const asked = new URL(detail.requestConfig.path, location.href).pathname;
  if (detail.xhr.responseURL && new URL(detail.xhr.responseURL).pathname !== asked) {
    // Signed out in the meantime: the sign-in page belongs in the window, not in the list.
    detail.shouldSwap = false;
    if (answer) answer.failed = true;
    location.reload();
  } else if (answer && [409, 422].includes(detail.xhr.status)) {
    answer.refused = detail.shouldSwap = true;
    detail.isError = false;
  }
});

document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (answer && detail.target.matches("[data-edge]")) answer.cards.push(detail.target.id);
});

// A card that came back and is not on this page goes to the top of the list.
document.addEventListener("htmx:oobErrorNoTarget", ({ detail }) => {
  if (!detail.content.matches("[data-edge]")) return;
  list.prepend(detail.content);
  htmx.process(detail.content);
  if (answer) answer.cards.push(detail.content.id);
});

document.addEventListener("htmx:responseError", () => { if (answer) answer.failed = true; });

document.addEventListener("htmx:afterSettle", (event) => {
  const preview = list.querySelector("[data-accept-group]");
  if (preview && event.detail.elt === preview) (preview.querySelector(".button--primary") || preview.querySelector("[data-cancel]")).focus();
  const card = current();
  card?.classList.add("is-current"); // settling gives a card that was swapped the classes it came with
  if (card && !isOpen(card) && event.detail.requestConfig?.verb === "get") goOn(card);
});

// -------------------------------------------------------------------------------------------- keys

const press = (root, selector) => root?.querySelector(selector)?.click();
const rejecting = (card) => card?.querySelector("[data-reject][open]");

function pick(card, number) {
  const radio = card?.querySelectorAll("[data-pick]")[number - 1];
  if (radio) radio.click();
}

// The sentence around the anchor picked, where the text holds it; else the one around the card's own.
function showPlace(card, anchor) {
  const places = [...card.querySelectorAll("[data-place]")];
  const wanted = places.some((place) => place.dataset.place === anchor) ? anchor : "";
  for (const place of places) place.hidden = place.dataset.place !== wanted;
}

function openReject(card) {
  const details = card?.querySelector("[data-reject]");
  if (!details) return;
  details.open = true;
  details.querySelector("[data-do]").focus();
}

function editAnchor(card) {
  const field = card?.querySelector("[data-anchor]");
  field?.focus();
  field?.select();
}

const asks = (card) => isOpen(card) && card.querySelector("[data-doubt]");

// Accepts in spite of what a card says against its words; where it is another card that asks, goes there first.
function acceptAnyway(card) {
  if (card && isOpen(card) && card.querySelector("[data-do=anyway]")) return press(card, "[data-do=anyway]");
  const asking = neighbour(card, -1, asks) || neighbour(card, 1, asks);
  if (asking) makeCurrent(asking);
}

const groupOf = (card) => card?.closest(".group");

const KEYS = {
  a: (card) => press(card, "[data-do=accept]"),
  n: (card) => press(card, "[data-rel=nofollow]"),
  x: (card) => (rejecting(card) ? press(card, "[data-do=reject]") : openReject(card)),
  y: acceptAnyway,
  e: editAnchor,
  s: (card) => press(card, "[data-do=skip]"),
  u: () => press(document, "[data-undo-last] button"),
  j: (card) => makeCurrent(neighbour(card, 1) || card),
  k: (card) => makeCurrent((card && neighbour(card, -1)) || card),
  o: (card) => press(groupOf(card) || card, "[data-open-donor]"),
  t: (card) => press(card, "[data-open-target]"),
  A: (card) => press(groupOf(card), "[data-group]"),
  "/": () => document.querySelector("[data-search]")?.focus(),
  "?": () => press(document, "[data-keys] > summary"),
};

function isField(element) {
  return element.matches("input:not([type=radio], [type=checkbox]), select, textarea");
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey) return;
  const field = isField(event.target);
  if (event.key === "Escape") return leave(event.target);
  if (field && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return event.target.form.requestSubmit(defaultButton(event.target.form));
  }
  if (field || event.ctrlKey || event.metaKey || event.repeat) return;
  const card = current();
  const digit = /^[1-8]$/.test(event.key);
  const act = digit
    ? () => (rejecting(card) ? press(card, `[data-reason="${event.key}"]`) : pick(card, Number(event.key)))
    : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  pressed += 1;
  act(card);
});

// Esc leaves a field, closes the reasons, the preview and the key list, and gives the card the focus again.
function leave(element) {
  if (element.matches("[data-anchor]")) {
    element.form.reset(); // what was picked as well
    showPlace(element.closest("[data-edge]"), "");
  }
  for (const open of document.querySelectorAll("[data-reject][open], [data-keys][open]")) open.open = false;
  press(list, "[data-cancel]");
  element.blur();
  makeCurrent(current());
}

// The place of the preview stays, for the next one.
function closePreview(preview) {
  const place = document.createElement("div");
  place.id = preview.id;
  place.dataset.preview = "";
  preview.replaceWith(place);
}

// -------------------------------------------------------------------------------------------- the pointer

document.addEventListener("click", (event) => {
  const card = event.target.closest("[data-edge]");
  if (event.target.closest("[data-cancel]") && list.contains(event.target)) {
    event.preventDefault();
    closePreview(event.target.closest("[data-preview]"));
    makeCurrent(current());
  } else if (event.target.closest("[data-do=skip]")) {
    makeCurrent(neighbour(card, 1, isOpen) || card);
  }
});

list.addEventListener("focusin", (event) => {
  const card = event.target.closest("[data-edge]");
  if (card && card.id !== currentId) makeCurrent(card, { focus: false });
});

list.addEventListener("change", (event) => {
  if (!event.target.matches("[data-pick]")) return;
  event.target.form.querySelector("[data-anchor]").value = event.target.value;
  showPlace(event.target.closest("[data-edge]"), event.target.value);
});

document.querySelector("[data-filters]")?.addEventListener("change", (event) => {
  if (!event.target.matches("[data-search]")) event.currentTarget.requestSubmit();
});

makeCurrent(document.querySelector(":target[data-edge]") || cards().find(isOpen) || null, { focus: true });
