// The review queue. One card is open at a fixed place; what is decided leaves the page at once and is sent in the
// background (outbox.js); the next cards are there before they are needed (deck.js). Every control is a form or a link
// that works without this file; the keys press them.

import { Deck, itemOf } from "./deck.js";
import { listen } from "./keys.js";
import { newKey, Outbox } from "./outbox.js";
import { Recent } from "./recent.js";
import * as words from "./words.js";

const MOST_UNDONE = 200; // cards kept so that their decisions can be taken back without asking the server
const OFFER_MS = 2000; // how often is looked for what other windows have left
const VERBS = { accept: "Accepted", anyway: "Accepted", reject: "Rejected", aside: "Later", back: "Back in the queue" };
const SAID = {
  saved: () => "All saved",
  saving: (count) => `Saving ${count}…`,
  offline: (count) => `${count} not saved: no connection`,
  "signed out": (count) => `${count} not saved: signed out`,
};
const number = new Intl.NumberFormat(document.documentElement.lang);
const root = document.querySelector("[data-review]");
const find = (selector) => document.querySelector(selector);

// Without a list to review there are still filters, keys to see them, and a search.
listen({ review: root ? review(root) : null });

function review(root) {
  const place = root.querySelector("[data-card]");
  const donorPlace = root.querySelector("[data-donor-place]");
  const next = root.querySelector("[data-next]");
  const decides = root.hasAttribute("data-decides");
  const recent = new Recent(root);
  const done = []; // what can be undone: { key, item, decision, verb }
  const look = new Map(); // by edge: what could not be saved, { item, message }
  const accepted = new Map(); // by donor: accepted here since its head was made
  const held = []; // keys that wait for a card
  let waitsForCard = null; // the card that an undo brings back
  const counts = { left: countIn("[data-left]"), today: countIn("[data-today]") };
  let isBound = Boolean(find("[data-left]")?.textContent.includes("+")); // counting stopped at what is left: there may be more

  const deck = new Deck({ url: root.dataset.deck, query: root.dataset.query, cursor: root.dataset.cursor, onArrival: () => { paint(); pump(); } });
  const outbox = decides && new Outbox({
    url: root.dataset.operations, query: root.dataset.query, owner: root.dataset.owner,
    token: JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"],
    held: () => deck.items.map((item) => item.edge), onAnswer, onChanged, onCounts, onState: paintState,
  });

  // ------------------------------------------------------------------------------------------------ what is shown

  function countIn(selector) { return Number((find(selector)?.textContent || "").replace(/\D/g, "")); }

  function paint() {
    const item = deck.current;
    if (item) {
      if (place.firstElementChild !== item.node) {
        const hadFocus = document.activeElement === document.body || place.contains(document.activeElement);
        place.replaceChildren(item.node);
        item.node.classList.add("is-current");
        if (hadFocus) item.node.focus({ preventScroll: true });
        sayWhere(item.node);
      }
      if (donorPlace.dataset.source !== String(item.source)) {
        donorPlace.dataset.source = item.source;
        if (item.donor) { donorPlace.innerHTML = item.donor; htmx.process(donorPlace); }
      }
      const shown = donorPlace.querySelector("[data-accepted]");
      if (shown) {
        shown.dataset.first ??= shown.textContent;
        shown.textContent = Number(shown.dataset.first) + (accepted.get(item.source) || 0);
      }
    } else if (deck.waits) {
      place.replaceChildren(note("Fetching the next suggestions…"));
    } else if (place.querySelector("[data-edge]") || place.querySelector(".review__wait")) {
      place.replaceChildren(...document.importNode(root.querySelector("template[data-end]").content, true).children);
      donorPlace.replaceChildren();
      delete donorPlace.dataset.source;
    }
    next.replaceChildren(...deck.following().map((other) => other.line));
    for (const [name, value] of Object.entries(counts)) {
      const shown = find(`[data-${name}]`);
      if (shown) shown.textContent = number.format(Math.max(0, value)) + (name === "left" && isBound ? "+" : "");
    }
  }

  function note(text) {
    const line = document.createElement("p");
    line.className = "review__wait muted";
    line.textContent = text;
    return line;
  }

  function paintState(state) {
    const sign = find("[data-saved]");
    if (!sign || !outbox) return;
    const text = SAID[state](outbox.size);
    if (sign.dataset.text === text) return;
    Object.assign(sign.dataset, { text, state });
    sign.textContent = text;
    if (state === "signed out") {
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "Sign in";
      sign.append(" ", link);
    }
  }

  function paintLook() {
    const button = find("[data-look]");
    if (!button) return;
    button.hidden = look.size === 0;
    button.querySelector("[data-look-count]").textContent = look.size === 1 ? "1 needs another look" : `${look.size} need another look`;
  }

  function say(text) { root.querySelector("[data-said]").textContent = text; }

  // ------------------------------------------------------------------------------------------------ what is done

  const nameOf = (card) => ({
    name: card.querySelector("[data-anchor]")?.value || "",
    target: card.querySelector(".edge__title")?.textContent.trim() || "",
  });

  function leave(item, operation, verb) {
    const label = { verb: VERBS[verb], ...nameOf(item.node) };
    outbox.add({ ...operation, label }); // first of all: what is kept cannot be lost to what is painted
    deck.remove(item);
    done.push({ key: operation.key, item, verb, label });
    if (done.length > MOST_UNDONE) done.shift();
    counts.left -= 1;
    if (verb !== "aside" && verb !== "back") counts.today += 1;
    if (verb === "accept" || verb === "anyway") accepted.set(item.source, (accepted.get(item.source) || 0) + 1);
    recent.add({ key: operation.key, edge: item.edge, label });
    look.delete(item.edge);
    paintLook();
    paint();
    say(`${label.verb}: ${label.name}`);
  }

  function decide(form, button) {
    const item = deck.current;
    if (!item || !item.node.contains(form)) return;
    const fields = Object.fromEntries(new FormData(form));
    delete fields.csrfmiddlewaretoken;
    const wanted = button?.value || form.querySelector("[name=do]")?.value || item.node.querySelector("[data-do=accept]").value;
    const verb = wanted.split(":")[0];
    if (fields.where && item.node.querySelector("[data-where]:checked").defaultChecked) delete fields.where;
    const operation = { key: newKey(), kind: "decide", edge: item.edge, do: wanted, ...fields };
    if (verb === "accept" && fields.warned && fields.warned_of === fields.anchor) return ask(item, operation);
    leave(item, operation, verb);
  }

  // A card that warned about its words before it was accepted is not sent: it needs another look, and the next key is
  // meant for the next card.
  function ask(item, operation) {
    const label = { verb: VERBS.accept, ...nameOf(item.node) };
    const warnings = [...item.node.querySelectorAll("[data-warnings] li")].map((line) => line.textContent).join(" ");
    deck.remove(item);
    done.push({ key: operation.key, item, verb: "asked", label });
    recent.add({ key: operation.key, edge: item.edge, label });
    recent.mark(operation.key, "asks", warnings);
    needsLook(item, operation.key);
    paint();
    say(`Not accepted: ${warnings}`);
  }

  function needsLook(item, key) {
    look.set(item.edge, { item, key });
    paintLook();
  }

  function later(form) {
    const item = deck.current;
    if (!item || !item.node.contains(form)) return;
    const verb = form.querySelector("[name=back]") ? "back" : "aside";
    leave(item, { key: newKey(), kind: verb, edge: item.edge }, verb);
  }

  // Takes back the newest, or the one of the key. It is painted at once; what the server has is taken back behind it.
  function undo(key = null) {
    const at = key ? done.findIndex((entry) => entry.key === key) : done.length - 1;
    const entry = done[at];
    if (!entry) return key ? undefined : undoOlder();
    done.splice(at, 1);
    if (entry.verb === "asked") return lookAgain(entry.item.edge);
    recent.remove(entry.key);
    if (!entry.item) return undoWithoutCard(entry);
    bringBack(entry.item, entry.verb);
    if (outbox.takeBack(entry.key)) return;
    takeBackThere(entry);
  }

  function takeBackThere(entry) {
    if (entry.verb === "aside" || entry.verb === "back") {
      outbox.add({ key: newKey(), kind: entry.verb === "aside" ? "back" : "aside", edge: entry.edge ?? entry.item.edge });
    } else {
      outbox.add({ key: newKey(), kind: "undo", of: entry.key, ...(entry.decision && { decision: entry.decision }), label: { ...entry.label, edge: entry.edge ?? entry.item.edge } });
    }
  }

  // Decided before this page was loaded again: its card comes from the server, and later keys wait for it.
  async function undoWithoutCard(entry) {
    waitsForCard = entry.edge;
    if (!outbox.takeBack(entry.key)) takeBackThere(entry);
    await new Promise((resolve) => { const wait = () => (outbox.size ? setTimeout(wait, 30) : resolve()); wait(); });
    if (waitsForCard !== entry.edge) return;
    const response = await fetch(root.dataset.edgeUrl.replace("/0/", `/${entry.edge}/`), { headers: { Accept: "application/json" } }).catch(() => null);
    const found = response?.ok && !response.redirected ? (await response.json()).cards : [];
    waitsForCard = null;
    if (found.length) bringBack(itemOf(found[0]), entry.verb);
    pump();
  }

  function bringBack(item, verb) {
    counts.left += 1;
    if (verb !== "aside" && verb !== "back") counts.today -= 1;
    if (verb === "accept" || verb === "anyway") accepted.set(item.source, (accepted.get(item.source) || 0) - 1);
    look.delete(item.edge);
    paintLook();
    for (const open of item.node.querySelectorAll("[data-reject]")) open.open = false;
    deck.insert(item);
    paint();
    say(`Undone: ${nameOf(item.node).name}`);
  }

  // A decision from before this page was loaded: the server has its card, for which later keys wait.
  function undoOlder() {
    const old = recent.takeOld();
    if (!old) return say("There is no decision of yours left to undo.");
    waitsForCard = old.edge;
    counts.left += 1;
    counts.today -= 1;
    outbox.add({ key: newKey(), kind: "undo", decision: old.decision, whole: 1, label: { edge: old.edge } });
  }

  async function open(edge) {
    await deck.loading; // the first lines come with the page, and their cards behind it
    if (deck.open(edge)) return paint();
    location.href = root.dataset.edgeUrl.replace("/0/", `/${edge}/`);
  }

  // A card that is closed was shown to be read, and is not kept.
  function move(step) {
    const left = deck.current;
    const isRead = left && root.dataset.deck && left.node.dataset.state !== "suggested";
    if (!deck.move(step) && !isRead) return;
    if (isRead) deck.remove(left);
    paint();
    deck.current?.node.focus({ preventScroll: true });
  }

  // The first that could not be saved comes back as the open card.
  function lookAgain(edge = look.keys().next().value) {
    const found = look.get(edge);
    if (!found) return;
    look.delete(edge);
    paintLook();
    recent.remove(found.key);
    const at = done.findIndex((entry) => entry.key === found.key);
    if (at >= 0) done.splice(at, 1);
    deck.insert(found.item);
    paint();
    found.item.node.focus({ preventScroll: true });
  }

  // ------------------------------------------------------------------------------------------------ the server's answers

  function onAnswer(operation, answer) {
    const back = answer.cards.filter((card) => card.open).map(itemOf);
    if (operation.kind === "undo") return undone(operation, answer, back);
    recent.mark(operation.key, answer.result, answer.message);
    const at = done.findIndex((entry) => entry.key === operation.key);
    if (at >= 0) done[at].decision = answer.decision;
    if (answer.result === "saved") return;
    if (at < 0) return; // it was undone in the meantime
    const [entry] = done.splice(at, 1);
    const item = entry.item || back[0]; // none where it was decided before this page was loaded
    if (operation.kind === "decide") counts.today -= 1;
    if (item && (entry.verb === "accept" || entry.verb === "anyway")) accepted.set(item.source, (accepted.get(item.source) || 0) - 1);
    if (back.length) counts.left += 1;
    if (back.length) needsLook({ ...back[0], donor: back[0].donor || item.donor }, operation.key);
    else if (item) needsLook({ ...item, node: closed(answer, item) }, operation.key);
    say(`Not saved: ${answer.message}`);
    paint();
  }

  // What is left of a card that somebody else has decided: what the server says of it.
  function closed(answer, item) {
    return answer.cards.length ? itemOf(answer.cards[0]).node : item.node;
  }

  function undone(operation, answer, back) {
    const edge = operation.label?.edge;
    if (answer.result !== "saved") {
      const item = deck.items.find((other) => other.edge === edge);
      if (item && !back.some((fresh) => fresh.edge === edge)) closeAgain(item, answer);
      const key = operation.key;
      recent.add({ key, edge, label: { verb: "Undo", name: operation.label?.name || "", target: operation.label?.target || "" } });
      recent.mark(key, "refused", answer.message);
      say(answer.message);
    }
    for (const fresh of back) {
      const item = deck.items.find((other) => other.edge === fresh.edge);
      if (item) renew(item, fresh);
      else if (waitsForCard === fresh.edge) deck.insert(fresh);
      else if (operation.whole) deck.insertBehind(fresh);
      if (operation.whole) recent.removeOld(fresh.edge);
    }
    if (waitsForCard === edge) waitsForCard = null;
    paint();
    pump();
  }

  // The decision holds, and the card that was brought back is closed again. Where it is the open card it stays in its
  // place with the reason, so that no key meant for it decides another.
  function closeAgain(item, answer) {
    counts.left -= 1;
    counts.today += 1;
    if (item === deck.current && answer.cards.length) item.node = closed(answer, item);
    else deck.remove(item);
  }

  // The words, the run and the tier of a card may have changed while it was decided.
  function renew(item, fresh) {
    const differs = (name) => item.node.querySelector(`[name=${name}]`)?.value !== fresh.node.querySelector(`[name=${name}]`)?.value;
    if (!differs("run") && !differs("shown")) return;
    item.node = fresh.node;
    item.line = fresh.line;
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
    if (changed.length) paint();
  }

  function onCounts({ left, more, today, percent }) {
    if (outbox.size) return;
    isBound = Boolean(more);
    Object.assign(counts, { left, today });
    const bar = find("[data-progress]");
    if (bar) bar.value = percent;
    paint();
  }

  // ------------------------------------------------------------------------------------------------ keys

  // A key waits while the card that it is meant for has not come yet, and so do those after it. What is typed behind a
  // key that opened a field goes into the field.
  function pump() {
    while (held.length && !waitsForCard && (deck.current || !deck.waits) && held[0].isReady()) {
      const { act, typed } = held.shift();
      const field = document.activeElement;
      if (typed && field.matches("[data-anchor]")) {
        field.setRangeText(typed, field.selectionStart, field.selectionEnd, "end");
        field.dispatchEvent(new Event("input", { bubbles: true }));
      } else {
        act();
      }
    }
  }

  function whenReady(act, isReady = () => true, key = "") {
    held.push({ act, isReady, typed: key.length === 1 ? key : "" });
    pump();
  }

  function sayWhere(node) {
    const where = node.querySelector("[data-where]:checked");
    const button = node.querySelector("[data-do=accept]");
    if (!where || !button) return;
    const rel = button.dataset.rel;
    button.querySelector(".edge__does").textContent = `${where.dataset.where.toLowerCase()}, ${rel}`;
  }

  // ------------------------------------------------------------------------------------------------ the beginning

  const first = place.querySelector("[data-edge]");
  if (first) {
    deck.items.push({
      edge: Number(first.dataset.edge), source: Number(first.dataset.source), donor: donorPlace.innerHTML,
      cursor: root.dataset.cursor, node: first, line: document.createElement("li"),
    });
    donorPlace.dataset.source = first.dataset.source;
    first.classList.add("is-current");
    first.focus({ preventScroll: true });
    sayWhere(first);
  } else {
    deck.hasMore = false;
  }

  if (outbox) {
    for (const operation of outbox.operations) dropFromDeck(operation);
    offer();
    setInterval(offer, OFFER_MS);
    onOffer("[data-offer-save]", () => outbox.takeOver().forEach(dropFromDeck));
    onOffer("[data-offer-discard]", () => outbox.discardOthers());
    paintState(outbox.size ? "saving" : "saved");
    outbox.flush();
  }
  deck.fill();

  // What the server's page shows as open, and what this tab had decided before it was loaded again.
  function dropFromDeck(operation) {
    if (operation.kind === "undo") return;
    const { key, edge, label = {} } = operation;
    const item = deck.items.find((other) => other.edge === edge) || null;
    done.push({ key, edge, item, verb: operation.do?.split(":")[0] || operation.kind, label });
    recent.add({ key, edge, label });
    counts.left -= 1;
    deck.gone.add(edge);
    if (item) deck.remove(item);
    paint();
  }

  // What other windows have left unsaved; one that has crashed is known to be gone only after a while.
  function offer() {
    const unsaved = outbox.leftByOthers().length;
    const notice = root.querySelector("[data-offer]");
    notice.hidden = !unsaved;
    if (!unsaved) return;
    const says = unsaved === 1
      ? "A decision of yours in another window was never saved."
      : `${unsaved} decisions of yours in another window were never saved.`;
    const place = notice.querySelector("[data-offer-says]");
    if (place.textContent !== says) place.textContent = says;
  }

  function onOffer(selector, act) {
    root.querySelector(selector).addEventListener("click", () => { act(); offer(); });
  }

  root.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-accept], [data-reject-form], [data-later], [data-undo]")) return;
    event.preventDefault();
    if (form.matches("[data-later]")) later(form);
    else if (form.matches("[data-undo]")) undoOf(form.closest("[data-recent] > li"));
    else decide(form, event.submitter);
  });

  const lookAt = (edge) => (look.has(edge) ? lookAgain(edge) : open(edge));

  // Undoes one of the last decisions, by its place in the list.
  function undoOf(item) {
    if (item.dataset.key) return item.dataset.result === "saved" || item.dataset.result === "unsaved" ? undo(item.dataset.key) : lookAt(Number(item.dataset.edgeId));
    waitsForCard = Number(item.dataset.edgeId);
    counts.left += 1;
    counts.today -= 1;
    outbox.add({ key: newKey(), kind: "undo", decision: Number(item.dataset.decision), label: { edge: waitsForCard } });
    item.remove();
  }

  find("[data-undo-last]")?.addEventListener("submit", (event) => { event.preventDefault(); whenReady(() => undo()); });
  find("[data-look]")?.addEventListener("click", () => lookAgain());

  root.addEventListener("click", (event) => {
    const line = event.target.closest("[data-line]");
    if (line && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open(Number(line.dataset.line));
    }
  });

  root.addEventListener("change", (event) => {
    const card = event.target.closest("[data-edge]");
    if (event.target.matches("[data-pick]")) words.pick(card, event.target);
    if (event.target.matches("[data-where]")) sayWhere(card);
  });
  root.addEventListener("input", (event) => {
    if (!event.target.matches("[data-anchor]")) return;
    const card = event.target.closest("[data-edge]");
    for (const field of card.querySelectorAll("[data-start], [data-end]")) field.value = "";
    words.check(card);
  });
  root.addEventListener("pointerup", () => { if (deck.current) setTimeout(() => words.takeSelection(deck.current.node)); });

  return {
    get card() { return deck.current?.node || null; },
    whenReady, undo: () => undo(), lookAgain,
    canMoveOn: () => !deck.loading || deck.following().length > 0,
    move,
    flushed: () => new Promise((resolve) => {
      const wait = () => (!outbox || !outbox.size ? resolve() : setTimeout(wait, 30));
      wait();
    }),
    reset() { const item = deck.current; if (item) { words.reset(item.node); sayWhere(item.node); } },
  };
}
