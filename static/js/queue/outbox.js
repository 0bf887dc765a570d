// What an editor has done and the server has not answered yet. It is kept in the browser's storage, so that it outlives
// the page, the connection and the session, and is sent in the order in which it was done, several at once. Each
// operation has a key, by which the server knows one that it has carried out already.

import { ask } from "./asking.js";
import { local, session } from "./storage.js";

const AT_ONCE = 40;
const KEPT_ALIVE = 50_000; // characters; browsers keep no more than 64 KB alive
const ALIVE_MS = 2000; // how often a tab says that it is there
const GONE_MS = 8000; // after which one that has not said so is taken to be gone
const WAITS = [1000, 2000, 4000, 8000, 15000]; // between attempts to reach the server
const UNSAVED = "anchorline:unsaved:";
const ANSWERED = "anchorline:answered"; // when: by edge, of this tab
const DECIDES = ["decide", "aside"]; // operations after which a card is no longer to review
const ALIVE = "anchorline:alive:";

// crypto.randomUUID is missing where the site is not served by https.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

// What lies in the storage under a name: a list.
export function read(name) {
  try {
    return JSON.parse(local.get(name)) || [];
  } catch {
    return [];
  }
}

// The edges whose decision the server answered after this page was asked for, which may show them as open.
export function answeredMeanwhile() {
  const times = JSON.parse(session.get(ANSWERED) || "{}");
  return Object.keys(times).filter((edge) => times[edge] >= performance.timeOrigin).map(Number);
}

// Who signs in in another window gets another token than the page came with.
function newestToken() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
}

function isAlive(tab) {
  return Date.now() - Number(local.get(ALIVE + tab) || 0) < GONE_MS;
}

// The places in the storage that begin like this and belong to tabs that are gone.
export function placesLeft(prefix, own) {
  const places = local.names().filter((name) => name.startsWith(prefix) && name !== own);
  return places.filter((name) => !isAlive(name.slice(prefix.length)));
}

// A tab keeps its name when it is loaded again. One that was made as a copy of another takes a new one.
function nameOfTab() {
  let tab = session.get("anchorline:tab");
  if (!tab || isAlive(tab)) {
    tab = newKey();
    session.set("anchorline:tab", tab);
  }
  return tab;
}

export class Outbox {
  // `onAnswer(operation, answer)` is called for each answer, `onCounts(counts)` when nothing is left to send, and
  // `held()` names the cards that the browser holds ready, of which `onChanged(cards)` hears those that are others now, and
  // `onState(state)` with "saved", "saving", "offline", "busy" where others are saving, "signed out", "another" where
  // somebody else has signed in, or "removed" where the user is no longer a member.
  constructor({ url, query, owner, token, held, onAnswer, onChanged, onCounts, onState }) {
    Object.assign(this, { url, query, token, held, onAnswer, onChanged, onCounts, onState });
    this.by = Number(owner.split(":")[0]); // the server takes it from nobody else
    this.tab = nameOfTab();
    this.place = `${UNSAVED}${owner}:${this.tab}`;
    this.prefix = `${UNSAVED}${owner}:`;
    this.operations = read(this.place);
    this.inFlight = 0; // how many of the first operations are under way
    this.failures = 0;
    this.state = "saved";
    this.waiting = []; // for all to be saved
    this.changes = 0;
    this.sayAlive();
    setInterval(() => this.sayAlive(), ALIVE_MS);
    addEventListener("pagehide", () => {
      this.sendAway();
      local.remove(ALIVE + this.tab);
    });
    addEventListener("beforeunload", (event) => { if (this.operations.length && !local.keeps(this.place)) event.preventDefault(); });
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.retry(); });
  }

  get size() { return this.operations.length; }

  sayAlive() { local.set(ALIVE + this.tab, String(Date.now())); }

  // Called with each change of what is to be sent, of which `changes` is the number.
  store() {
    this.changes += 1;
    if (this.operations.length) local.set(this.place, JSON.stringify(this.operations));
    else local.remove(this.place);
  }

  add(operation) {
    this.operations.push(operation);
    this.store();
    this.say();
    this.flush();
  }

  // Takes back an operation that has not been sent. False where the server may know it already.
  takeBack(key) {
    const at = this.operations.findIndex((operation) => operation.key === key);
    if (at < this.inFlight || this.operations[at].tried) return false;
    this.operations.splice(at, 1);
    this.store();
    this.say();
    return true;
  }

  // What tabs that are gone have left unsaved.
  leftByOthers() { return placesLeft(this.prefix, this.place).flatMap(read); }

  // Takes what others have left as its own, and returns it.
  takeOver() {
    const found = this.leftByOthers();
    this.operations.push(...found);
    this.store();
    this.discardOthers();
    this.say();
    this.flush();
    return found;
  }

  discardOthers() {
    for (const place of placesLeft(this.prefix, this.place)) local.remove(place);
  }

  retry() {
    if (!this.operations.length || this.inFlight) return;
    clearTimeout(this.timer);
    this.flush();
  }

  say(state = this.operations.length ? (this.state === "saved" ? "saving" : this.state) : "saved") {
    this.state = state;
    this.onState(state);
    if (!this.operations.length) for (const goOn of this.waiting.splice(0)) goOn();
  }

  whenSaved() { return this.operations.length ? new Promise((resolve) => { this.waiting.push(resolve); }) : Promise.resolve(); }

  async flush() {
    if (this.inFlight || !this.operations.length) return;
    clearTimeout(this.timer);
    const sent = this.operations.slice(0, this.alone ? 1 : AT_ONCE);
    this.inFlight = sent.length;
    for (const operation of sent) operation.tried = true;
    this.store();
    const found = await this.post(sent);
    this.inFlight = 0;
    if (found.answers) this.take(sent, found);
    else if (found.malformed && sent.length > 1) this.alone = true; // to find the one that is
    else if (found.malformed) this.take(sent, { answers: [{ key: sent[0].key, result: "refused", message: found.malformed, cards: [] }] });
    else return this.wait(found.state);
    this.flush();
  }

  // The page is left: all goes at once, with what is under way, since the server may get to this request first. Nobody
  // waits for the answer, so it is kept as well, and the next page of the queue sends it again.
  sendAway() {
    if (!this.operations.length) return;
    const sent = this.operations.slice(0, AT_ONCE);
    for (const operation of sent) operation.tried = true;
    this.store();
    this.post(sent);
  }

  async post(sent) {
    const operations = sent.map(({ label, tried, ...operation }) => operation);
    const body = JSON.stringify({ query: this.query, by: this.by, operations, held: this.held() });
    try {
      const response = await ask(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": newestToken() || this.token },
        body,
        keepalive: body.length < KEPT_ALIVE, // so that leaving the page does not cut it off
      });
      if (response.redirected || [401, 403].includes(response.status)) return { state: "signed out" };
      if (response.status === 404) return { state: "removed" };
      if (response.status === 409) return { state: "another" };
      if (response.status === 400) return { malformed: await response.text() };
      if (response.status === 503) return { state: (await response.json()).busy ? "busy" : "offline" };
      return response.ok ? await response.json() : { state: "offline" };
    } catch {
      return { state: "offline" };
    }
  }

  take(sent, { answers, counts, changed = [] }) {
    this.failures = 0;
    this.alone = this.alone && this.operations.length > 1;
    this.state = "saving";
    const known = new Map(sent.map((operation) => [operation.key, operation]));
    this.operations = this.operations.filter((operation) => !known.has(operation.key));
    // A decision that another window had saved already has another key: it is undone by its number.
    for (const { key, decision } of answers) {
      for (const later of this.operations) if (decision && later.kind === "undo" && later.of === key) later.decision = decision;
    }
    this.store();
    this.noteAnswered(known, answers);
    for (const answer of answers) this.onAnswer(known.get(answer.key), answer);
    this.onChanged(changed);
    if (!this.operations.length && counts) this.onCounts(counts);
    this.say();
  }

  noteAnswered(known, answers) {
    const times = JSON.parse(session.get(ANSWERED) || "{}");
    for (const { key, result } of answers) {
      const { edge, label, kind } = known.get(key);
      if (result !== "saved") continue;
      if (DECIDES.includes(kind)) times[edge] = Date.now();
      else delete times[edge ?? label?.edge];
    }
    const newest = Object.entries(times).sort(([, one], [, other]) => other - one).slice(0, 2 * AT_ONCE);
    session.set(ANSWERED, JSON.stringify(Object.fromEntries(newest)));
  }

  wait(state) {
    this.say(state);
    this.timer = setTimeout(() => this.flush(), WAITS[Math.min(this.failures, WAITS.length - 1)]);
    this.failures += 1;
  }
}
