// The upload of a file, as far as it gets.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { element } from "./elements.js";

const parts = Object.fromEntries(["upload-state", "upload-progress", "upload-button", "id_file"].map((id) => [id, element("p", { id })]));
parts.id_file.files = ["pages.csv"];
const form = element("form", { id: "upload" });
const body = element("body", {}, form, ...Object.values(parts));
const document = Object.assign(element("#document", {}, body), { body, documentElement: { lang: "en" }, getElementById: (id) => parts[id] });

let request;
class Request {
  constructor() {
    request = this;
    this.listeners = {};
    this.upload = { addEventListener: (_, listener) => { this.onProgress = (loaded) => listener({ loaded, total: 100 }); } };
  }

  addEventListener(type, listener) { this.listeners[type] = listener; }
  open() {}
  send() {}
  abort() { this.listeners.abort(); }
}
Object.assign(globalThis, { document, XMLHttpRequest: Request, FormData: class {} });
mock.timers.enable({ apis: ["setTimeout"] });
await import("../../static/js/import.js");

function upload() {
  form.fire("submit");
  return parts["upload-state"];
}

for (const loaded of [null, 37]) {
  test(`an upload that stands still ends after a minute and can be sent again: ${loaded}`, () => {
    const state = upload();
    if (loaded) request.onProgress(loaded);
    assert.equal(parts["upload-button"].disabled, true);
    mock.timers.tick(60_000);
    assert.deepEqual([state.textContent, parts["upload-button"].disabled], ["broken", false]);
  });
}

test("one that goes on, or is looked at, is left alone", () => {
  const state = upload();
  for (const loaded of [10, 20, 100]) {
    mock.timers.tick(50_000);
    request.onProgress(loaded);
  }
  mock.timers.tick(600_000);
  assert.equal(state.textContent, "looking");
});
