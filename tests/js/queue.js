// The queue in a window without a browser: all of its scripts, on the stand-in of a document, before a server in memory.

import { mock } from "node:test";

import { element, FieldsOf, Kept, parse } from "./elements.js";
import { cardOf, headOf, Server } from "./server.js";

const KEYS = {
  a: "accept", f: "follow", n: "nofollow", y: "anyway", x: "reject", e: "edit", w: "elsewhere", b: "beside", s: "later", m: "ask", r: "look",
  u: "undo", j: "next", k: "previous", o: "donor", p: "read", t: "acceptor", "/": "search", "?": "help", A: "group",
};
const SAYINGS = {
  accept: "Accepted", anyway: "Accepted", edit: "Accepted with an edit", reject: "Rejected", aside: "Later", ask: "Opinion asked", undone: "Undone: {name}", "undo-together": "u again takes all {count} back",
  offline: "{count} not saved: no connection", busy: "{count} not saved yet", "signed out": "{count} not saved: signed out", "look.one": "1 needs another look", saved: "All saved", "back.one": "1 came back",
  "look.many": "{count} need another look", saving: "Saving {count}…", "left.one": "One was never saved: {what}", "left.many": "{count} were never saved: {what}", "left-of": "{verb}, {name} to {target}", "left-others.many": "{count} others", "not-saved-of": "{name} to {target}: {message}", "not-saved": "Not saved: {message}",
  "back.many": "{count} came back", gone: "It is gone.", "in-a-link": "They are in a link.", "decided-meanwhile": "It was decided elsewhere.", "not-accepted": "Not accepted: {warnings}", another: "{count} not saved: somebody else", removed: "{count} not saved: no member", "not-saved-yet": "Not saved. {message}", "looking.one": "{names} is looking",
};
const NEVER = new Promise(() => {});
let windows = 0;

// The entries of a tab, which outlive the page.
export class Entries {
  constructor() { Object.assign(this, { states: [null], at: 0, refuses: false }); }
  get state() { return this.states[this.at]; }
  get length() { return this.states.length; }
  replaceState(state) { this.states[this.at] = state; }
  pushState(state) {
    if (this.refuses) throw new Error("more than 100 times in 30 seconds");
    this.states.splice(this.at += 1, Infinity, state);
  }
}

export const suggestions = (count, perDonor = 2) => Array.from({ length: count }, (_, at) => (
  { edge: at + 1, source: Math.floor(at / perDonor) + 1, anchor: "warm boots", target: `Target ${at}` }
));

// What is under way is answered, as far as nothing holds it.
export async function settle() {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
}

// A window at the queue. `old`: what was done before its page was made, as the server lists it.
export class Window {
  // `heldBack`: a part of addresses whose answers wait for `answerHeld`.
  static async open({ count = 4, perDonor = 2, edges = suggestions(count, perDonor), heldBack, deckFaults, ...options } = {}) {
    const server = Object.assign(new Server(edges), { deckFaults });
    const window = new Window(server, options);
    if (heldBack) window.answerHeld = server.hold(heldBack);
    await window.load();
    return window;
  }

  constructor(server, { kept = new Kept(), tab = new Kept(), entries = new Entries(), old = [], owner = "7:1", early = [], mayDecide = true, canComment = false } = {}) {
    Object.assign(server, { mayDecide, canComment });
    Object.assign(this, { server, kept, tab, entries, old, owner, early, mayDecide });
  }

  // Loads the page, or loads it again: what the storage holds outlives that, and nothing else does.
  async load({ at = null, open = null, isBack = false } = {}) {
    if (this.listeners) this.leave();
    if (at) this.entries.pushState(null); // another address
    mock.timers.reset();
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: (this.now = (this.now ?? 1_000_000) + 1000) });
    const number = windows += 1;
    this.number = number;
    this.listeners = {};
    const isOpen = (edge) => (open ? open.includes(edge) : this.server.isOpen(edge));
    const [first = null, ...rest] = [...this.server.edges.keys()].filter((edge) => edge === at || isOpen(edge)).sort((one, other) => (other === at) - (one === at));
    this.#make(first, rest.slice(0, 8));
    const globals = {
      window: globalThis, document: this.document, localStorage: this.kept, sessionStorage: this.tab, history: this.entries, FormData: FieldsOf, CSS: { escape: (text) => text },
      location: { href: "/queue/", search: at ? `?at=${at}` : "" }, scrollY: 0, requestIdleCallback: (act) => act(), earlyKeys: this.early, keepKey: () => {},
      htmx: { process() {}, ajax: (...asked) => { this.asked = asked; } }, MutationObserver: class { observe() {} }, Event: class { constructor(type) { this.type = type; } },
      performance: { now: () => Date.now(), timeOrigin: Date.now(), getEntriesByType: () => [{ type: isBack ? "back_forward" : "reload" }] }, addEventListener: (type, listener) => { (this.listeners[type] ??= []).push(listener); },
      getSelection: () => this.selection,
      fetch: async (...asked) => {
        const [answered] = await Promise.allSettled([this.server.fetch(...asked)]);
        if (this.number !== number) return NEVER; // a page that is gone hears nothing
        if (answered.reason) throw answered.reason;
        return answered.value;
      },
    };
    for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    await import(`../../static/js/queue/main.js?${number}`);
    await settle();
  }

  #make(first, lines) {
    const { server } = this;
    const found = first && server.edges.get(first);
    const place = element("div", { "data-card": "" }, ...(found ? [parse(cardOf(found, server))] : []));
    const donor = element("header", { "data-donor-place": "" });
    if (found) donor.innerHTML = headOf(found);
    const root = element("div", {
      "data-review": "", ...(this.mayDecide && { "data-decides": "" }), "data-query": "", "data-owner": this.owner, "data-edge-url": "/queue/0/",
      "data-deck": "/deck/", "data-meanwhile": "/meanwhile/", "data-operations": "/operations/", "data-cursor": first ?? "",
      "data-saved-keys": [...server.carriedOut.keys()].join(" "),
    },
    element("div", { "data-offer": "", hidden: true }, element("span", { "data-offer-says": "" }), element("button", { type: "button", "data-offer-save": "" }), element("button", { type: "button", "data-offer-discard": "" })),
    donor, place, element("ol", { "data-next": "" }, ...lines.map((edge) => element("li", { "data-line": edge }))), element("p", { "data-said": "" }),
    element("section", { "data-page-text-place": "", hidden: true }), element("ol", { "data-recent": "" }, ...this.old.map((done) => this.#old(done))),
    element("p", { "data-recent-none": "" }), element("template", { "data-end": "" }, element("h2", {}, "Nothing left"),
      element("p", { "data-end-look": "", hidden: true }, element("button", { type: "button", "data-look-again": "" }, element("span", { "data-look-count": "" }))),
      ...["accepted", "later"].map((name) => element("p", { "data-end-row": "", hidden: true }, element("b", { "data-count": name }, "0")))),
    element("template", { "data-recent-item": "" }, element("li", {}, element("a"), element("span", { "data-to": "" }, element("span", { "data-target": "" })), element("span", { "data-on": "" }, element("span", { "data-donor": "" })), ...["verb", "goes", "name", "message"].map((name) => element("span", { [`data-${name}`]: "" })),
      element("form", { "data-undo": "" }, element("button", {}, element("span", { "data-does": "" }), element("span", { "data-of": "" }))))),
    element("dialog", { "data-dialog": "", open: false }));
    const bar = element("div", { "data-bar": "" },
      element("b", { "data-left": "" }, String([...server.edges.keys()].filter((edge) => server.isOpen(edge)).length)), element("b", { "data-today": "" }, String(server.decisions.filter(({ isUndone }) => !isUndone).length)),
      element("span", { "data-saved": "" }), element("button", { type: "button", "data-look": "", hidden: true }, element("span", { "data-look-count": "" })),
      element("form", { "data-undo-last": "" }, element("button")), element("input", { "data-search": "" }),
      element("details", { class: "queuebar__menu", "data-keys": "" }, element("summary")), element("b", { "data-count": "accepted" }, "0"));
    const sayings = element("template", { "data-sayings": "" }, ...Object.entries(SAYINGS).map(([name, text]) => element("p", { "data-saying": name }, text)));
    const body = element("body", {}, element("div", { id: "messages" }), element("script", { id: "keys" }, JSON.stringify(KEYS)), bar, root, sayings);
    body.attributes["hx-headers"] = JSON.stringify({ "X-CSRFToken": "token" });
    const document = element("#document", {}, body);
    Object.assign(document, {
      body, activeElement: body, documentElement: { lang: "en" }, cookie: "", hidden: false,
      getElementById: (id) => document.querySelector(`#${id}`), createElement: (tag) => element(tag), importNode: (node) => node.cloneNode(),
      createRange: () => ({ createContextualFragment: (html) => ({ firstElementChild: parse(html) }) }),
    });
    this.document = document;
  }

  #old({ edge, ...data }) {
    const attributes = Object.entries(data).map(([name, value]) => [`data-${name}`, value]);
    return element("li", { "data-old": "", "data-edge-id": edge, "data-result": "saved", ...Object.fromEntries(attributes) }, element("form", { "data-undo": "" }, element("button")));
  }

  // The page is left: the scripts hear it, and what they wait for never comes.
  leave() {
    for (const listener of this.listeners.pagehide ?? []) listener();
    this.number = 0;
  }

  // The browser's Back, or Forward with 1.
  back(step = -1) {
    this.entries.at += step;
    for (const listener of this.listeners.popstate ?? []) listener({ state: this.entries.state });
  }

  // Keys as one string, or a list where they have names.
  press(keys) {
    for (const key of keys) {
      const target = document.activeElement;
      const event = target.fire("keydown", { key });
      if (!event.isPrevented && key === "Enter" && target.form) target.form.requestSubmit();
      if (!event.isPrevented && key.length === 1 && target.matches("input")) this.type(key);
    }
  }

  type(text) {
    const field = document.activeElement;
    field.setRangeText(text, field.selectionStart, field.selectionEnd);
    field.fire("input");
  }

  find(selector) { return this.document.querySelector(selector); }
  get card() { return this.find("[data-card] > [data-edge]"); }
  get open() { return Number(this.card?.dataset.edge ?? 0); }
  get said() { return this.find("[data-said]").textContent; }
  get saved() { return this.find("[data-saved]").textContent; }
  get state() { return this.find("[data-saved]").dataset.state; }
  get left() { return Number(this.find("[data-left]").textContent); }
  get today() { return Number(this.find("[data-today]").textContent); }
  get look() { return this.find("[data-look]").hidden ? "" : this.find("[data-look-count]").textContent; }
  get recent() { return this.find("[data-recent]").children; }
  get marked() { return this.recent.filter(({ dataset }) => ["refused", "asks"].includes(dataset.result)); }
  get anchor() { return this.card.querySelector("[data-anchor]").value; }
  get unsaved() { return Object.keys(this.kept).filter((name) => name.startsWith("anchorline:unsaved:")); }

  async wait(milliseconds) {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      mock.timers.tick(Math.min(500, milliseconds - passed));
      await settle();
    }
    this.now += milliseconds;
  }

  close() {
    this.number = 0;
    mock.timers.reset();
  }
}

// A test with a window of its own.
export const inWindow = (options, claim) => async () => {
  const window = await Window.open(options);
  try {
    await claim(window, window.server);
  } finally {
    window.close();
  }
};
