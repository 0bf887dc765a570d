// What is done to the open card: it leaves at once, and is sent in the background.

import { newKey } from "./outbox.js";
import { saying } from "../sayings.js";

export const NO_DECISIONS = ["aside", "back", "ask"];
const MOST_UNDONE = 200; // cards kept so that their decisions can be taken back without asking the server

export function addDeciding(desk) {
  const { place, recent, done, counts, deck, outbox } = desk;

  // Where an accepted link goes, behind the verb.
  const goesOf = (card, verb) => (verb === "accept" || verb === "anyway" ? `, ${card.querySelector("[data-where]:checked")?.dataset.where || ""}` : "");

  // Whether it is accepted with other words than those that were shown.
  const isEdit = ({ do: wanted = "", anchor, shown }) => !wanted.startsWith("reject") && anchor !== undefined && anchor.trim().replace(/\s+/g, " ") !== shown;

  // `closes`: the donor takes no more links, so its other cards leave as well, before a key can hit one of them.
  function leave(item, operation, verb, closes = false) {
    const label = { verb: saying(isEdit(operation) ? "edit" : verb), ...desk.nameOf(item.node), goes: goesOf(item.node, verb) };
    outbox.add({ ...operation, label }); // first of all: what is kept cannot be lost to what is painted
    if (place.contains(document.activeElement)) document.activeElement.blur(); // where it is taken out later, all is laid out once more
    desk.forgetMessages();
    deck.remove(item);
    const hidden = closes ? deck.closeDonor(item.source) : [];
    done.push({ key: operation.key, item, verb, label, hidden, closes });
    counts.left -= hidden.length;
    if (done.length > MOST_UNDONE) done.shift();
    counts.left -= 1;
    if (!NO_DECISIONS.includes(verb)) counts.today += 1;
    desk.countAccepted(item, verb, 1);
    recent.add({ key: operation.key, edge: item.edge, label });
    desk.settle(item.edge);
    desk.paint();
    desk.say(`${label.verb}: ${label.name}`);
  }

  function decide(form, button) {
    const item = deck.current;
    if (!item || !item.node.contains(form)) return;
    const fields = Object.fromEntries(new FormData(form));
    delete fields.csrfmiddlewaretoken;
    const wanted = button?.value || form.querySelector("[name=do]")?.value || item.node.querySelector("[data-do=accept]").value;
    const verb = wanted.split(":")[0];
    // Where it goes is a wish where the editor has said so, be it what the card had proposed.
    if (item.node.dataset.placed) delete fields.proposed;
    else if (fields.where === fields.proposed) delete fields.where;
    const operation = { key: newKey(), kind: "decide", edge: item.edge, do: wanted, ...fields };
    if (verb === "accept" && fields.warned && fields.warned_of === fields.anchor) return stop(item);
    leave(item, operation, verb, Boolean(button?.matches("[data-closes-donor]")));
  }

  // What a rejection had ruled out is there again, behind the card.
  function bringBackHidden({ item, hidden = [], closes }) {
    if (closes) deck.closed.delete(item.source);
    for (const other of [...hidden].reverse()) deck.insertBehind(other);
    counts.left += hidden.length;
  }

  // A card that warns about its words is not accepted, and stays: whoever pressed the key reads the warning here. Keys that
  // were pressed right behind it were meant for the next card, see keys.js.
  function stop(item) {
    const warnings = [...item.node.querySelectorAll("[data-warnings] li")].map((line) => line.textContent).join(" ");
    desk.stoppedAt = performance.now();
    item.node.querySelector("[data-doubt]").classList.add("is-asking");
    desk.say(saying("not-accepted", { warnings }), true);
  }

  function later(form) {
    const item = deck.current;
    if (!item || !item.node.contains(form)) return;
    const verb = form.querySelector("[name=back]") ? "back" : "aside";
    leave(item, { key: newKey(), kind: verb, edge: item.edge }, verb);
  }

  Object.assign(desk, { leave, decide, bringBackHidden, later });
}
