// A browser that keeps nothing. By itself: what the scripts remember instead lasts as long as their page.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Kept } from "./elements.js";
import { inWindow, settle } from "./queue.js";

test("where the browser's storage is full, what is decided is sent all the same, and a page that would lose it asks", inWindow({}, async (window, server) => {
  const isFull = mock.method(Kept.prototype, "setItem", () => { throw new Error("QuotaExceededError"); });
  const asks = () => {
    let isAsked = false;
    for (const listener of window.listeners.beforeunload) listener({ preventDefault: () => { isAsked = true; } });
    return isAsked;
  };
  server.faults = ["unreachable"];
  window.press("ax1");
  await settle();
  assert.equal(window.saved, "2 not saved: no connection");
  assert.equal(asks(), true);
  await window.wait(1000);
  assert.equal(window.saved, "All saved");
  assert.deepEqual(server.said, ["decide 1", "decide 2"]);
  assert.equal(asks(), false);
  isFull.mock.restore();
}));
