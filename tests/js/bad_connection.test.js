// Five hundred decisions over a connection that loses requests and answers, while somebody else decides as well.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const WORK = { a: ["a", "accepted"], n: ["n", "accepted"], x: ["x1", "rejected"], s: ["s", "suggested"], undone: ["aun", "accepted"] };

// The same numbers between 0 and 1 each time.
function luckOf(seed) {
  let at = seed;
  return () => {
    at = (at * 48271) % 2147483647;
    return at / 2147483647;
  };
}

for (const seed of process.env.TEST_ALL ? [7, 8, 9] : [7]) {
  test(`no decision is lost, made twice or made on another card: ${seed}`, inWindow({ count: 500, perDonor: 10 }, async (window, server) => {
    const luck = luckOf(seed);
    const plan = Array.from({ length: 500 }, () => Object.keys(WORK)[Math.floor(luck() * 5)]);
    const taken = new Set(Array.from({ length: 20 }, () => 40 + Math.floor(luck() * 460)));
    server.faultOf = () => { const drawn = luck(); return drawn < 0.1 ? "unreachable" : drawn < 0.2 ? "lost" : null; };
    for (const [at, work] of plan.entries()) {
      if (taken.has(at + 15)) server.edges.get(at + 16).state = "rejected"; // in cards that the browser holds already
      if (window.open === 0) await settle();
      window.press(WORK[work][0]);
      if (luck() < 0.3) await settle();
    }
    await window.wait(120_000);
    assert.match(window.find("[data-card]").textContent, /Nothing left/);
    for (const [at, work] of plan.entries()) {
      const found = server.edges.get(at + 1);
      assert.deepEqual([at, found.state, found.isAside], [at, taken.has(at) ? "rejected" : WORK[work][1], work === "s"]);
      if (!taken.has(at) && found.state === "accepted") assert.equal(found.rel, work === "a" ? "follow" : "nofollow");
    }
    const looks = [...taken].filter((at) => WORK[plan[at]][1] !== "suggested").length;
    assert.deepEqual([window.look, window.saved], [`${looks} need another look`, `${looks} came back`]);
    assert.equal(window.recent.length, 10 + looks - window.recent.slice(0, 10).filter(({ dataset }) => dataset.result === "refused").length);
    assert.equal(window.unsaved.length, 0);
  }));
}
