// What could not be saved and needs another look. It is kept in the browser's storage, with the words that were typed,
// until its card is decided or put back as it came, so that it outlives the page.

import { placesLeft, read } from "./outbox.js";
import { local } from "./storage.js";

const REFUSED = "anchorline:refused:";

export class Refused {
  constructor({ owner, tab }) {
    this.prefix = `${REFUSED}${owner}:`;
    this.place = this.prefix + tab;
    this.entries = new Map(read(this.place).map((entry) => [entry.operation.edge, entry]));
  }

  // `operation` with its words, `label` of the list of the last decisions, and the server's `result` and `message`.
  keep({ operation, label, result, message }) {
    const { tried, ...sent } = operation;
    this.entries.set(operation.edge, { operation: sent, label, result, message });
    this.store();
  }

  drop(edge) { if (this.entries.delete(edge)) this.store(); }

  store() {
    if (this.entries.size) local.set(this.place, JSON.stringify([...this.entries.values()]));
    else local.remove(this.place);
  }

  leftByOthers() { return placesLeft(this.prefix, this.place).flatMap(read); }

  // Takes what windows that are gone have left as its own, and returns it.
  takeOver() {
    const found = this.leftByOthers();
    for (const entry of found) this.entries.set(entry.operation.edge, entry);
    this.store();
    this.discardOthers();
    return found;
  }

  discardOthers() { for (const place of placesLeft(this.prefix, this.place)) local.remove(place); }
}
