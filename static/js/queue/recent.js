// The last things that the editor did, the newest first, each with a way back; and what could not be saved and needs
// another look.

const MOST = 10;
const NOT_SAVED = ["refused", "asks"];

export class Recent {
  constructor(root) {
    this.list = root.querySelector("[data-recent]");
    this.none = root.querySelector("[data-recent-none]");
    this.template = root.querySelector("[data-recent-item]");
    this.edgeUrl = root.dataset.edgeUrl;
    this.entries = new Map(); // by key of the operation
  }

  add({ key, edge, label }) {
    if (!this.list) return;
    const item = this.template.content.firstElementChild.cloneNode(true);
    item.dataset.key = key;
    item.dataset.edgeId = edge;
    item.dataset.result = "unsaved";
    item.querySelector("a").href = this.edgeUrl.replace("/0/", `/${edge}/`);
    for (const [name, text] of Object.entries(label)) item.querySelector(`[data-${name}]`).textContent = text;
    this.entries.set(key, item);
    this.list.prepend(item);
    this.trim();
  }

  remove(key) {
    this.entries.get(key)?.remove();
    this.entries.delete(key);
    this.trim();
  }

  // The newest decision that came with the page, if any; it leaves the list.
  takeOld() {
    const item = this.list?.querySelector("[data-decision]");
    item?.remove();
    this.trim();
    return item ? { decision: Number(item.dataset.decision), edge: Number(item.dataset.edgeId) } : null;
  }

  removeOld(edge) {
    this.list?.querySelector(`[data-decision][data-edge-id="${edge}"]`)?.remove();
    this.trim();
  }

  mark(key, result, message = "") {
    const item = this.entries.get(key);
    if (!item) return;
    item.dataset.result = result;
    item.querySelector("[data-message]").textContent = NOT_SAVED.includes(result) ? `Not saved. ${message}` : message;
    if (NOT_SAVED.includes(result)) item.querySelector("button").textContent = "Look";
  }

  trim() {
    if (!this.list) return;
    for (const item of [...this.list.children].slice(MOST)) {
      if (NOT_SAVED.includes(item.dataset.result)) continue; // it still needs another look
      this.entries.delete(item.dataset.key);
      item.remove();
    }
    this.none.hidden = this.list.children.length > 0;
  }
}
