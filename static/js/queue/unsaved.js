// What was left unsaved: by this tab before it was loaded again, and by windows that are gone.

import { answeredMeanwhile } from "./outbox.js";
import { NO_DECISIONS } from "./deciding.js";
import { TAKEN_BACK_BY } from "./undoing.js";
import { counted, saying } from "../sayings.js";

const MOST_NAMED = 3; // of what other windows have left
const OFFER_MS = 2000; // how often is looked for what other windows have left
const KEEP_THE_CARD = ["undo", "comment", "unask"]; // operations after which it is still in the list

export function addUnsaved(desk) {
  const { root, recent, done, counts, deck, outbox, refused } = desk;

  // What the server's page shows as open, and the server was told of while it was made.
  function dropAnswered() {
    for (const edge of answeredMeanwhile()) {
      const item = deck.items.find((other) => other.edge === edge);
      deck.gone.add(edge);
      if (item?.node.dataset.state === "suggested") deck.remove(item);
    }
    desk.paint();
  }

  // What the server's page shows as open, and what this tab had decided before it was loaded again, and not taken back.
  function dropFromDeck(operations) {
    const takesBack = (later, earlier) => later.of === earlier.key || (later.edge === earlier.edge && later.kind === TAKEN_BACK_BY[earlier.kind]);
    const isVain = (operation, at) => operations.slice(at + 1).some((later) => takesBack(later, operation))
      || operations.slice(0, at).some((earlier) => takesBack(operation, earlier));
    for (const { key, edge, kind, do: verb = kind, label = {} } of operations.filter((operation, at) => !KEEP_THE_CARD.includes(operation.kind) && !isVain(operation, at))) {
      const item = deck.items.find((other) => other.edge === edge) || null;
      done.push({ key, edge, item, verb: verb.split(":")[0], label });
      recent.add({ key, edge, label });
      if (item) desk.countAccepted(item, verb.split(":")[0], 1);
      deck.gone.add(edge);
      if (item) deck.remove(item);
    }
    countUnsaved(operations);
    if (done.length) desk.paint();
  }

  // The server's page counts what had been saved when it was made, though this tab never heard so.
  function countUnsaved(operations) {
    const counted = (root.dataset.savedKeys || "").split(" ");
    const isOfLater = new URLSearchParams(root.dataset.query).has("later");
    const leaves = { decide: 1, ask: 1, aside: isOfLater ? -1 : 1, back: isOfLater ? 1 : -1, undo: -1, unask: -1, comment: 0 };
    for (const { key, kind } of operations.filter((operation) => !counted.includes(operation.key))) {
      counts.left -= leaves[kind];
      if (!NO_DECISIONS.includes(kind) && kind !== "unask") counts.today += leaves[kind];
    }
  }

  // Which links it was about, and what was done to them.
  function named(operations) {
    const known = operations.filter(({ label }) => label?.target);
    const lines = known.slice(0, MOST_NAMED).map(({ kind, label }) => saying("left-of", { ...label, verb: kind === "undo" ? saying("undo") : label.verb }));
    const others = operations.length - lines.length;
    return [...lines, ...(others ? [counted("left-others", others)] : [])].join("; ");
  }

  // What other windows have left unsaved; one that has crashed is known to be gone only after a while.
  function offer() {
    const unsaved = [...outbox.leftByOthers(), ...refused.leftByOthers().map(({ operation, label }) => ({ ...operation, label }))];
    const notice = root.querySelector("[data-offer]");
    notice.hidden = !unsaved.length;
    if (!unsaved.length) return;
    const says = counted("left", unsaved.length, { what: named(unsaved) });
    const place = notice.querySelector("[data-offer-says]");
    if (place.textContent !== says) place.textContent = says;
  }

  function onOffer(selector, act) {
    root.querySelector(selector).addEventListener("click", () => { act(); offer(); });
  }

  function offerWhatOthersLeft() {
    offer();
    setInterval(offer, OFFER_MS);
    onOffer("[data-offer-save]", () => { dropFromDeck(outbox.takeOver()); desk.offerAgain(refused.takeOver()); });
    onOffer("[data-offer-discard]", () => { outbox.discardOthers(); refused.discardOthers(); });
  }

  Object.assign(desk, { dropAnswered, dropFromDeck, offerWhatOthersLeft });
}
