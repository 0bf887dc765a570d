// What a server says to the queue, from a list of suggestions in memory. How the real one answers the same is tested in
// tests/review/test_operations.py and test_deck.py, and both together in tests/browser/queue.

import { htmlOf } from "./elements.js";

const PAGE = 24; // cards of one request
const STATE = { accept: "accepted", anyway: "accepted", reject: "rejected" };
const GENERIC = "click here"; // words that are warned of
export const OFTEN = "used often";
const SAID = { [GENERIC]: [{ code: "generic", text: "says nothing", stops: true }], [OFTEN]: [{ code: "identical", text: "9 say it", stops: false }] };

export class Server {
  // `edges`: { edge, source, anchor, target }, in the order of the list.
  constructor(edges) {
    this.edges = new Map(edges.map((edge) => [edge.edge, { state: "suggested", isAside: false, run: 1, ...edge }]));
    this.requests = []; // the operations of each request
    this.carriedOut = new Map(); // the answer to each operation, by its key
    this.decisions = []; // { edge, verb, key, isUndone }
    this.said = []; // operations as they were carried out, "kind edge"
    this.faults = []; // of the next requests: "unreachable", "silent", "lost", "malformed", "busy" or a status; null for none
    this.gates = {}; // by part of an address: promises that requests wait for
  }

  // Requests whose address holds the text wait until the function that is returned is called.
  hold(part) {
    let open;
    this.gates[part] = new Promise((resolve) => { open = resolve; });
    return () => {
      delete this.gates[part];
      open();
    };
  }

  // What `fetch` gives for an address.
  async fetch(address, { body, signal } = {}) {
    const [path, query = ""] = address.split("?");
    const fault = path.includes("/operations/") ? this.faultOf?.() ?? this.faults.shift() : path.includes("/deck/") ? this.deckFaults?.shift() : null;
    if (path.includes("/operations/") && body) this.requests.push(JSON.parse(body));
    for (const [part, gate] of Object.entries(this.gates)) if (path.includes(part)) await gate;
    if (fault === "unreachable" || this.isOffline) throw new TypeError("unreachable");
    if (fault === "silent") await new Promise((_, fail) => { signal?.addEventListener("abort", () => fail(signal.reason)); });
    if (fault === "busy") return answer({ busy: "A match is being saved. Try again in a moment." }, 503);
    if (typeof fault === "number") return answer({}, fault);
    if (path.includes("/deck/")) return answer(this.#deck(new URLSearchParams(query)));
    if (path.includes("/words/")) return answer(this.#words(new URLSearchParams(query)));
    if (path.includes("/presence/")) return answer({ names: this.names ?? [] });
    if (path.includes("/meanwhile/")) return answer(this.#meanwhile(new URLSearchParams(query)));
    if (!path.includes("/operations/")) return this.#edge(Number(path.split("/").at(-2)));
    const { operations, by, held } = JSON.parse(body);
    if (this.user && by !== this.user) return answer({}, 409);
    if (operations.some(({ run }) => run === "none")) return answer("It cannot be read.", 400);
    const found = { answers: operations.map((operation) => this.#carryOut(operation)), counts: this.#counts(), changed: this.#changed(held) };
    if (fault === "lost") throw new TypeError("the answer was lost");
    return answer(found);
  }

  #deck(query) {
    const all = [...this.edges.keys()];
    const open = all.slice(all.indexOf(Number(query.get("after"))) + 1).filter((edge) => this.isOpen(edge));
    return { cards: open.slice(0, PAGE).map((edge) => this.card(edge)), next: open.length > PAGE ? String(open[PAGE - 1]) : "" };
  }

  #edge(edge) { return this.edges.has(edge) ? answer({ cards: [this.card(edge)] }) : answer({}, 404); }

  #meanwhile(query) {
    const [edge, mark] = [Number(query.get("edge")), String(this.decisions.length)];
    if (query.get("seen") === mark) return { mark };
    const found = this.edges.get(edge);
    const lines = this.decisions.map((one, at) => ({ ...one, decision: at + 1 })).filter(({ isUndone }) => !isUndone).reverse().slice(0, 10);
    return {
      mark,
      recent: lines.map((one) => JSON.stringify(["li", { "data-old": "", "data-edge-id": one.edge, "data-result": "saved", "data-decision": one.decision }, ["form", { "data-undo": "" }, ["button"]]])),
      counts: this.#counts(), group: found?.source ?? null, head: found ? headOf(found, this.headSays) : "",
      closed: found && found.state !== "suggested" ? this.card(edge) : null,
    };
  }

  #words(query) { return { warnings: SAID[query.get("anchor")] || [] }; }

  #changed(held) { return held.filter((edge) => this.edges.get(edge)?.isChanged && this.isOpen(edge)).map((edge) => this.card(edge)); }

  #counts() {
    const today = this.decisions.filter(({ isUndone }) => !isUndone).length;
    return { left: [...this.edges.keys()].filter((edge) => this.isOpen(edge)).length, today, percent: 0, menu: { accepted: String(today) } };
  }

  #carryOut(operation) {
    const { key } = operation;
    if (!this.carriedOut.has(key)) this.carriedOut.set(key, { key, message: "", cards: [], hidden: [], ...this.#do(operation) });
    return this.carriedOut.get(key);
  }

  #do(operation) {
    const { kind, edge, of } = operation;
    this.said.push(`${kind} ${edge ?? ""}`.trim());
    if (kind === "undo") return this.#undo(operation);
    const found = this.edges.get(edge);
    if (kind === "aside" || kind === "back") found.isAside = kind === "aside";
    if (kind === "ask" || kind === "unask") found.isAsked = kind === "ask";
    if (kind !== "decide") return of === undefined && this.refuses === kind ? { result: "refused", message: "It is refused.", cards: [this.card(edge)] } : { result: "saved" };
    if (found.state !== "suggested") return { result: "refused", message: "maria decided first", cards: [this.card(edge)] };
    if (operation.do.startsWith("accept") && operation.anchor.length > 100) return { result: "refused", message: "too many characters", cards: [this.card(edge)] };
    if (operation.do.startsWith("accept") && operation.anchor === GENERIC) return { result: "asks", message: "says nothing", cards: [this.card(edge)] };
    return this.decide(edge, operation);
  }

  decide(edge, { key, do: wanted, anchor }) {
    const found = this.edges.get(edge);
    const [verb, rel] = wanted.split(":");
    Object.assign(found, { state: STATE[verb], said: anchor, rel });
    this.decisions.push({ edge, verb, key, isUndone: false });
    return { result: "saved", decision: this.decisions.length, verb: { accept: "Accepted", anyway: "Accepted", reject: "Rejected" }[verb], hidden: this.hides?.[edge] ?? [] };
  }

  #undo({ of, decision }) {
    const open = this.decisions.filter((one) => !one.isUndone);
    const found = of ? open.find(({ key }) => key === of) ?? this.decisions[decision - 1] : decision ? this.decisions[decision - 1] : open.at(-1);
    if (!found) return of ? { result: "saved" } : { result: "refused", message: "There is no decision of yours left to undo." };
    const edge = this.edges.get(found.edge);
    if (edge.state === "exported") return { result: "refused", message: "It is exported.", cards: [this.card(found.edge)] };
    found.isUndone = true;
    edge.state = "suggested";
    return { result: "saved", cards: [this.card(found.edge)] };
  }

  isOpen(edge) {
    const { state, isAside, isAsked } = this.edges.get(edge);
    return state === "suggested" && !isAside && !isAsked;
  }

  get states() { return [...this.edges.values()].map(({ state }) => state); }

  card(edge) {
    const found = this.edges.get(edge);
    return {
      edge, source: found.source, group: found.source, cursor: String(edge), open: this.isOpen(edge),
      card: cardOf(found, this), line: htmlOf("li", { "data-line": edge }), head: headOf(found),
    };
  }
}

// A response whose body is JSON, or text.
function answer(body, status = 200) {
  return { status, ok: status < 300, redirected: false, json: async () => structuredClone(body), text: async () => String(body) };
}

export function headOf({ source }, accepted = "0") { return JSON.stringify(["div", {}, ["b", {}, `Donor ${source}`], ["span", { "data-accepted": "" }, accepted]]); }

// The parts of templates/review/_card.html that the scripts know.
export function cardOf({ edge, source, anchor, target, state, run, warnings = [], excerpt = [] }, { mayDecide = true, canComment = false } = {}) {
  const accept = { form: `accept-${edge}`, name: "do" };
  const article = { "data-edge": edge, "data-source": source, "data-of-group": source, "data-state": state, "data-donor": `Donor ${source}`, id: `edge-${edge}` };
  if (state !== "suggested" || !mayDecide) return JSON.stringify(["article", article, ["h4", { class: "edge__title" }, target], ["p", {}, state], ["form", { "data-undo-card": "" }, ["button"]]]);
  const place = (value, where, checked) => ["input", { type: "radio", name: "where", value, "data-where": where, checked }];
  const pick = (value) => ["input", { type: "radio", name: "pick", value, "data-pick": "" }];
  const reason = (at, value, more = {}) => ["button", { name: "do", value: `reject:${value}`, "data-reason": at, ...more }];
  const words = excerpt.length ? [["blockquote", { "data-excerpt": "" }, ["p", {}, ...excerpt.map(([text, from, isMine, low = -1, isLinked = false]) => (
    ["span", {
      ...(from >= 0 && { "data-from": from, "data-to": from + text.length }), ...(low >= 0 && { "data-low": low, "data-high": low + text.length }),
      ...((isMine || isLinked) && { class: [isMine && "is-anchor", isLinked && "is-linked"].filter(Boolean).join(" ") }), ...(isMine && { "data-mine": 1 }),
    }, text]
  ))]]] : [];
  return JSON.stringify(["article", article,
    ["p", { class: "edge__top" }], ...words, ["h4", { class: "edge__title" }, target],
    ["form", { id: `accept-${edge}`, "data-accept": "", "data-words": `/words/${edge}/` },
      ["input", { name: "run", value: String(run) }], ["input", { name: "shown", value: anchor }],
      ["input", { name: "start", "data-start": "" }], ["input", { name: "end", "data-end": "" }],
      ["input", { name: "anchor", value: anchor, "data-anchor": "" }],
      pick("snow boots"), pick("dry boots"),
      ["input", { name: "proposed", value: "text" }], place("text", "in the text", true), place("beside", "beside the text", false),
      ["input", { name: "warned", value: warnings.map(({ code }) => code).join(" "), "data-warned-codes": "" }],
      ["input", { name: "warned_of", value: warnings.length ? anchor : "", "data-warned-of": "" }],
      ["div", { "data-doubt": "" }, ["ul", { "data-warnings": "" }, ...warnings.map(({ text }) => ["li", {}, text])]]],
    ["button", { ...accept, value: "accept:follow", "data-do": "accept", "data-rel": "follow" }, ["span", { class: "edge__does" }]],
    ["button", { ...accept, value: "accept:nofollow", "data-rel": "nofollow" }],
    ["button", { ...accept, value: "anyway:follow", "data-do": "anyway", hidden: !warnings.length }],
    ["details", { "data-reject": "" }, ["form", { "data-reject-form": "" },
      ["input", { type: "radio", name: "reach", value: "good", checked: true }], ["input", { type: "radio", name: "reach", value: "days" }],
      ["input", { type: "checkbox", name: "widely", value: "1", "data-widely": "" }],
      ["button", { name: "do", value: "reject", "data-do": "reject" }],
      reason(1, "irrelevant"), reason(2, "outdated"), reason(5, "too_many", { "data-closes-donor": "" }), ["input", { name: "note" }]]],
    ["form", { "data-later": "" }, ["button", {}]],
    ["details", { "data-ask": "" }, ["form", { "data-ask-form": "" }, ["select", { name: "asked_of" }], ["input", { class: "edge__says", name: "text" }], ["button", {}]]],
    ...(canComment ? [["details", { "data-comments": "" }, ["b", { class: "num" }, "0"], ["ol", {}], ["form", { "data-comment-form": "" }, ["input", { name: "text" }]]]] : []),
    ["button", { type: "button", "data-more": "" }],
  ]);
}
