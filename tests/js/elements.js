// A stand-in for what the scripts use of a document: a tree of elements that are found by simple selectors, fields of
// forms, the focus, and events that rise to the document. Nothing is laid out or drawn; that is for the browser tests.

const camel = (attribute) => attribute.slice(5).replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const PARTS = /:not\([^)]+\)|\[[^\]]+\]|[.#:][\w-]+|^\w+/g;
const CONTROLS = "input, select, textarea, button";

// Parts of a selector, at what separates them outside brackets.
function split(selector, separator) {
  const parts = [""];
  let depth = 0;
  for (const sign of selector) {
    depth += "[(".includes(sign) - "])".includes(sign);
    if (sign === separator && !depth) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts.map((part) => part.trim()).filter((part) => part && part !== ">");
}

// What a selector asks, as a list of tests for each part; kept, since the same ones are asked again and again.
const known = new Map();

function read(selector) {
  if (!known.has(selector)) known.set(selector, split(selector, ",").map((one) => split(one, " ").map((compound) => compound.match(PARTS).map(testOf))));
  return known.get(selector);
}

function testOf(part) {
  if (part.startsWith(":not")) return (element) => !element.matches(part.slice(5, -1));
  if (part === ":checked") return (element) => Boolean(element.checked);
  if (part[0] === ".") return (element) => element.names.has(part.slice(1));
  if (part[0] === "#") return (element) => element.id === part.slice(1);
  if (part[0] !== "[") return (element) => element.tag === part;
  const [, name, value] = part.match(/^\[([\w-]+)(?:="?([^"\]]*)"?)?\]$/);
  const data = name.startsWith("data-") && camel(name);
  return (element) => {
    const own = data ? element.dataset[data] : element[name === "form" ? "formId" : name];
    return own !== undefined && own !== false && (value === undefined || String(own) === value);
  };
}

export class Element {
  #children = [];
  #listeners = new Map();

  // Attributes named data-… are kept in `dataset`, "class" in `classList`, the others as properties.
  constructor(tag, { class: classes = "", ...attributes } = {}, ...children) {
    const names = new Set(classes.split(" ").filter(Boolean));
    Object.assign(this, { tag, dataset: {}, attributes: {}, parent: null, hidden: false, style: {}, names });
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("data-")) this.dataset[camel(name)] = String(value);
      else this[name === "form" ? "formId" : name] = value;
    }
    if (this.matches(CONTROLS)) {
      this.value ??= "";
      Object.assign(this, { defaultValue: this.value, defaultChecked: Boolean(this.checked), checked: Boolean(this.checked) });
    }
    this.append(...children);
  }

  get classList() {
    const { names } = this;
    return {
      add: (name) => names.add(name), remove: (name) => names.delete(name), contains: (name) => names.has(name),
      toggle: (name, isOn = !names.has(name)) => (isOn ? names.add(name) : names.delete(name)),
    };
  }

  // The tree

  get childNodes() { return this.#children; }
  get children() { return this.#children.filter((child) => child instanceof Element); }
  get firstElementChild() { return this.children[0] ?? null; }
  get content() { return this; } // of a template
  get root() { return this.parent ? this.parent.root : this; }
  get isConnected() { return this.root === globalThis.document; }

  // Adds those below that the selector asks for, in the order of the document, until there are so many.
  #find(asked, found, most) {
    for (const child of this.#children) {
      if (typeof child === "string") continue;
      if (child.#is(asked)) found.push(child);
      if (found.length < most) child.#find(asked, found, most);
      if (found.length === most) return found;
    }
    return found;
  }

  get textContent() { return this.#children.map((child) => child.textContent ?? child).join(""); }
  set textContent(text) { this.replaceChildren(String(text)); }
  get innerHTML() { return this.html ?? ""; }
  set innerHTML(html) {
    this.replaceChildren(...(html ? [parse(html)] : []));
    this.html = html;
  }

  #put(at, nodes) {
    for (const node of nodes) {
      if (!(node instanceof Element)) continue;
      node.remove();
      node.parent = this;
    }
    this.#children.splice(at, 0, ...nodes);
  }

  append(...nodes) { this.#put(this.#children.length, nodes); }
  prepend(...nodes) { this.#put(0, nodes); }
  before(...nodes) { this.parent.#put(this.parent.#children.indexOf(this), nodes); }
  replaceChildren(...nodes) {
    for (const child of this.children) child.remove();
    this.#children = [];
    this.append(...nodes);
  }

  remove() {
    if (!this.parent) return;
    if (globalThis.document && this.contains(document.activeElement)) document.activeElement = document.body;
    this.parent.#children.splice(this.parent.#children.indexOf(this), 1);
    this.parent = null;
  }

  contains(other) {
    for (let at = other; at; at = at.parent) if (at === this) return true;
    return false;
  }

  cloneNode() { return parse(JSON.stringify(this)); }

  toJSON() {
    const data = Object.entries(this.dataset).map(([name, value]) => [`data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, value]);
    const kept = ["id", "name", "type", "value", "checked", "hidden", "open"].filter((name) => this[name] !== undefined).map((name) => [name, this[name]]);
    return [this.tag, { ...Object.fromEntries([...data, ...kept]), class: [...this.names].join(" "), ...(this.formId && { form: this.formId }) }, ...this.#children];
  }

  // Selectors: tags, #ids, .classes, attributes, :checked and :not(), inside one another, several with commas

  matches(selector) { return this.#is(read(selector)); }

  #is(asked) {
    for (const compounds of asked) if (this.#isLast(compounds, compounds.length - 1)) return true;
    return false;
  }

  #isLast(compounds, at) {
    for (const test of compounds[at]) if (!test(this)) return false;
    return at === 0 || this.#isIn(compounds, at - 1);
  }

  #isIn(compounds, last) {
    for (let at = this.parent; at; at = at.parent) if (at.#isLast(compounds, last)) return true;
    return false;
  }

  closest(selector) { return this.matches(selector) ? this : this.parent?.closest(selector) ?? null; }
  querySelectorAll(selector) { return this.#find(read(selector), [], Infinity); }
  querySelector(selector) { return this.#find(read(selector), [], 1)[0] ?? null; }
  setAttribute(name, value) { this.attributes[name] = value; }
  getAttribute(name) { return this.attributes[name] ?? null; }
  hasAttribute(name) { return this.matches(`[${name}]`); }
  getBoundingClientRect() { return { top: 0, bottom: 0, left: 0, width: 100, height: 10 }; }
  scrollIntoView() {}

  // Events

  addEventListener(type, listener) { this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]); }
  removeEventListener() {}

  fire(type, more = {}) {
    const event = {
      type, target: this, detail: 1, key: "", isPrevented: false, cancelable: true, ...more,
      preventDefault() { this.isPrevented = true; }, get defaultPrevented() { return this.isPrevented; },
    };
    for (let at = this; at; at = at.parent) for (const listener of at.#listeners.get(type) ?? []) listener(event);
    return event;
  }

  dispatchEvent(event) { this.fire(event.type); }

  focus() { document.activeElement = this; }
  blur() { document.activeElement = document.body; }
  select() { Object.assign(this, { selectionStart: 0, selectionEnd: this.value.length }); }

  click(more = {}) {
    if (this.fire("click", more).defaultPrevented) return;
    if (this.matches("[type=radio]")) this.#choose();
    else if (this.matches("summary")) this.parent.open = !this.parent.open;
    else if (this.matches("button") && this.form && this.type !== "button") this.form.requestSubmit(this);
  }

  #choose() {
    for (const other of this.form.fields) if (other.name === this.name) other.checked = other === this;
    this.fire("change");
  }

  // Forms

  get form() { return this.formId ? document.getElementById(this.formId) : this.closest("form"); }
  get fields() { return this.querySelectorAll(CONTROLS); }
  get elements() { return Object.fromEntries(this.fields.map((field) => [field.name, field])); }
  requestSubmit(submitter = null) { return this.fire("submit", { submitter }); }
  reset() { for (const field of this.fields) Object.assign(field, { value: field.defaultValue, checked: field.defaultChecked }); }

  setRangeText(text, from = this.value.length, to = from) {
    this.value = this.value.slice(0, from) + text + this.value.slice(to);
    this.selectionStart = this.selectionEnd = from + text.length;
  }
}

export const element = (...described) => new Element(...described);

// What is HTML in the browser is the description of an element here, as JSON.
export function parse(html) {
  const build = ([tag, attributes, ...children]) => element(tag, attributes, ...children.map((child) => (Array.isArray(child) ? build(child) : child)));
  return build(JSON.parse(html));
}

export const htmlOf = (...described) => JSON.stringify(element(...described));

export class FieldsOf {
  constructor(form) {
    const sent = form.fields.filter(({ tag, name, type, checked }) => tag !== "button" && name && (!["radio", "checkbox"].includes(type) || checked));
    this.pairs = sent.map(({ name, value }) => [name, value]);
  }

  [Symbol.iterator]() { return this.pairs[Symbol.iterator](); }
}

export class Kept {
  getItem(name) { return this[name] ?? null; }
  setItem(name, value) { this[name] = String(value); }
  removeItem(name) { delete this[name]; }
}
