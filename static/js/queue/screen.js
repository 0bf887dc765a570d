// What the queue shows: the open card with the head of its group, the lines below it, the counts, and what is said.

import * as reach from "./reach.js";
import * as words from "./words.js";
import { counted, saying } from "../sayings.js";

const SHOWN_MS = 8000; // for which it is shown that a key did nothing
const TROUBLE = ["offline", "busy", "signed out", "another", "removed"];
const number = new Intl.NumberFormat(document.documentElement.lang);
const find = (selector) => document.querySelector(selector);
// The same text once more would be laid out once more.
const write = (shown, text) => { if (shown.textContent !== text) shown.textContent = text; };

export function addScreen(desk) {
  const { root, place, donorPlace, next, look, accepted, heads, counts, deck, outbox } = desk;

  // What asks where things are comes last, and before it all is in its place: the page is then laid out once.
  function paint() {
    const item = desk.comesBack ? null : deck.current;
    let shows = () => {};
    if (item) {
      if (place.firstElementChild !== item.node) {
        const hadFocus = document.activeElement === document.body || place.contains(document.activeElement);
        const isOther = desk.shownEdge !== item.edge;
        place.replaceChildren(item.node);
        if (isOther) turnTo(item);
        item.node.classList.add("is-current");
        reach.recall(item.node);
        words.sayWhere(item.node);
        shows = () => {
          if (isOther) bringIntoSight();
          if (hadFocus) item.node.focus({ preventScroll: true });
        };
      }
      if (donorPlace.dataset.ofGroup !== String(item.group)) {
        donorPlace.dataset.ofGroup = item.group;
        if (item.head && !heads.has(item.group)) heads.set(item.group, item.head);
        if (heads.has(item.group)) { donorPlace.innerHTML = heads.get(item.group); htmx.process(donorPlace); }
      }
      const shown = donorPlace.querySelector("[data-accepted]");
      if (shown) {
        shown.dataset.first ??= shown.textContent;
        shown.textContent = Number(shown.dataset.first) + (accepted.get(item.group) || 0);
      }
    } else if (deck.waits || desk.comesBack) {
      place.replaceChildren(note(saying("fetching")));
    } else if (place.querySelector("[data-edge]") || place.querySelector(".review__wait")) {
      place.replaceChildren(...document.importNode(root.querySelector("template[data-end]").content, true).children);
      donorPlace.replaceChildren();
      delete donorPlace.dataset.ofGroup;
      desk.noteShown(0);
      paintMenu();
      paintLook();
    }
    let above = item?.source;
    const lines = deck.following().map((other) => {
      other.line.classList.toggle("is-same-donor", other.source === above);
      above = other.source;
      return other.line;
    });
    // Until their cards have come, the lines of the page are left.
    const isPast = ({ dataset }) => deck.gone.has(Number(dataset.line)) || Number(dataset.line) === item?.edge;
    const isOut = lines.length || !deck.waits ? (line) => !lines.includes(line) : isPast;
    for (const line of [...next.children].filter(isOut)) line.remove();
    // Those that are there already stay where they are, or they would be laid out anew.
    lines.forEach((line, at) => {
      const there = next.children[at];
      if (!there) next.append(line);
      else if (there !== line) there.before(line);
    });
    for (const [name, value] of Object.entries(counts)) {
      const shown = find(`[data-${name}]`);
      if (shown) write(shown, number.format(Math.max(0, value)) + (name === "left" && desk.isBound ? "+" : ""));
    }
    shows();
    deck.prepare();
  }

  // The numbers of the lists, in their menu and where no card is left, as the server said them last.
  function paintMenu() {
    for (const shown of document.querySelectorAll("[data-count]")) {
      shown.textContent = desk.menu[shown.dataset.count] ?? shown.textContent;
      const row = shown.closest("[data-end-row]");
      if (row) row.hidden = shown.textContent === "0";
    }
  }

  // Another card: what was beside the one before goes.
  function turnTo(item) {
    desk.lookedAway(desk.shownEdge);
    desk.shownEdge = item.edge;
    desk.noteShown(item.edge);
    const text = find("[data-page-text-place]");
    if (text.dataset.showing) {
      Object.assign(text, { hidden: true }).replaceChildren();
      text.dataset.showing = "";
    }
  }

  // The top of another card.
  function bringIntoSight() {
    if (window.scrollY && place.getBoundingClientRect().top < donorPlace.getBoundingClientRect().bottom) place.scrollIntoView();
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
    const hasBack = state === "saved" && look.size > 0; // saved is then not all
    const text = hasBack ? counted("back", look.size) : saying(state, { count: outbox.size });
    if (sign.dataset.text === text) return;
    // Who listens hears that nothing is saved, and that all is again, and not of each decision that it is being saved.
    if (TROUBLE.includes(state) ? sign.dataset.trouble !== state : state === "saved" && sign.dataset.trouble) say(text);
    if (state !== "saving") sign.dataset.trouble = TROUBLE.includes(state) ? state : "";
    Object.assign(sign.dataset, { text, state });
    sign.classList.toggle("has-back", hasBack);
    sign.textContent = text;
    if (state === "signed out") {
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = saying("sign-in");
      sign.append(" ", link);
    }
  }

  function paintLook() {
    if (outbox) paintState(outbox.state);
    const button = find("[data-look]");
    if (!button) return;
    const atTheEnd = place.querySelector("[data-end-look]");
    for (const shown of atTheEnd ? [button, atTheEnd] : [button]) {
      shown.hidden = look.size === 0;
      shown.querySelector("[data-look-count]").textContent = counted("look", look.size);
    }
  }

  // `isShown`: a key did nothing, or waits, which all must learn, and not only who listens.
  function say(text, isShown = false) {
    const said = root.querySelector("[data-said]");
    said.textContent = text;
    said.classList.toggle("visually-hidden", !isShown);
    clearTimeout(said.timer);
    if (isShown) said.timer = setTimeout(() => said.classList.add("visually-hidden"), SHOWN_MS);
  }

  // Those of the page's beginning, which speak of what was done before.
  function forgetMessages() { find("#messages")?.replaceChildren(); }

  function countAccepted(item, verb, step) {
    if (verb === "accept" || verb === "anyway") accepted.set(item.group, (accepted.get(item.group) || 0) + step);
  }

  const nameOf = (card) => ({
    name: card.querySelector("[data-anchor]")?.value || "",
    target: [...card.querySelectorAll(".edge__title")].at(-1)?.textContent.trim() || "",
    donor: card.dataset.donor || "",
  });

  Object.assign(desk, { paint, paintMenu, paintState, paintLook, say, forgetMessages, countAccepted, nameOf });
}
