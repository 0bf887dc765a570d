// What cannot be saved: it is marked and counted, kept with the words that were typed, and looked at again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inWindow, settle } from "./queue.js";

const LONG = "warm boots and more ".repeat(12);
const kept = (window) => Object.keys(window.kept).filter((name) => name.startsWith("anchorline:refused:")).length;

async function rewrite(window, words) {
  window.press("e");
  window.find("[data-anchor]").value = "";
  window.press([...words, "Enter"]);
  await settle();
}

// Somebody else has rejected it, which this window does not know yet.
async function refuseFirst(window, server) {
  server.edges.get(1).state = "rejected";
  window.press("a");
  await settle();
}

test("a conflict is marked and counted without disturbing who writes, and r brings it back with the reason", inWindow({}, async (window, server) => {
  server.edges.get(1).state = "rejected";
  window.press([..."ae", ..."target one"]);
  await settle();
  assert.match(window.marked[0].textContent, /maria decided first/);
  assert.equal(window.look, "1 needs another look");
  assert.deepEqual([window.open, window.document.activeElement.value], [2, "target one"]);
  window.press(["Enter", "r"]);
  await settle();
  assert.deepEqual([window.open, window.card.dataset.state], [1, "rejected"]);
  assert.deepEqual([window.look, window.marked.length], ["", 0]);
  window.press("a");
  await settle();
  assert.deepEqual([window.said, server.states[0]], ["closed", "rejected"]);
}));

for (const [name, go] of [
  ["the button of the bar", (window) => window.find("[data-look]").click()],
  ["its entry in the list", (window) => window.marked[0].querySelector("button").click()],
  ["u, where it is the newest", (window) => window.press("u")],
]) {
  test(`${name} brings it back as well`, inWindow({}, async (window, server) => {
    await refuseFirst(window, server);
    go(window);
    assert.deepEqual([window.open, window.look], [1, ""]);
    window.press("j");
    assert.equal(window.open, 2);
  }));
}

test("u takes back nothing that is saved while the newest could not be", inWindow({}, async (window, server) => {
  window.press("a");
  await settle();
  server.edges.get(2).state = "rejected";
  window.press("a");
  await settle();
  window.press("u");
  await settle();
  assert.deepEqual([window.open, server.states[0]], [2, "accepted"]);
}));

test("what was looked at and is decided already leaves the list", inWindow({}, async (window, server) => {
  await refuseFirst(window, server);
  window.press("rjaaa");
  await settle();
  assert.match(window.find("[data-card]").textContent, /Nothing left/);
  assert.equal(window.left, 0);
  assert.deepEqual(server.states, ["rejected", "accepted", "accepted", "accepted"]);
}));

test("who looks and goes on without deciding still has it to look at", inWindow({}, async (window) => {
  await rewrite(window, LONG);
  window.press("r");
  assert.deepEqual([window.open, window.look], [1, ""]);
  window.press("j");
  assert.deepEqual([window.look, window.marked.length], ["1 needs another look", 1]);
  window.press("r");
  assert.equal(window.open, 1);
}));

test("what is refused long after it was done is in the list too, behind the others", inWindow({ count: 60, perDonor: 60 }, async (window, server) => {
  const answer = server.hold("/operations/");
  server.edges.get(1).state = "rejected";
  window.press("a".repeat(12));
  answer();
  await settle();
  assert.deepEqual([window.look, window.marked.length, window.recent[0].dataset.result], ["1 needs another look", 1, "saved"]);
}));

test("the list of the last never drops what needs another look", inWindow({ count: 60, perDonor: 60 }, async (window, server) => {
  await refuseFirst(window, server);
  window.press("a".repeat(15));
  await settle();
  assert.equal(window.marked.length, 1);
}));

// Words that are warned of, or cannot be used

test("words that are refused come back with the card", inWindow({}, async (window) => {
  await rewrite(window, LONG);
  assert.match(window.marked[0].textContent, /too many characters/);
  window.press("r");
  assert.deepEqual([window.open, window.anchor], [1, LONG]);
}));

test("words that are warned of need another look, a asks again, and y accepts them", inWindow({}, async (window, server) => {
  await rewrite(window, "click here");
  assert.equal(server.states[0], "suggested");
  window.press("r");
  assert.deepEqual([window.open, window.anchor], [1, "click here"]);
  await window.wait(500);
  window.press("a");
  assert.deepEqual([window.open, window.look], [1, ""]);
  window.press("y");
  await settle();
  assert.deepEqual([server.states[0], server.edges.get(1).said], ["accepted", "click here"]);
}));

test("no key is lost to a warning that comes while work goes on", inWindow({}, async (window, server) => {
  const answer = server.hold("/operations/");
  window.press("e");
  window.find("[data-anchor]").value = "";
  window.press([..."click here", "Enter", ..."aaa"]);
  answer();
  await settle();
  assert.deepEqual(server.states, ["suggested", "accepted", "accepted", "accepted"]);
  assert.equal(window.look, "1 needs another look");
}));

test("a stops at a card that warns, and y accepts it", async () => {
  const warned = { edge: 1, source: 1, anchor: "warm boots", target: "Target 0", warnings: [{ code: "identical", text: "3 others say it" }] };
  await inWindow({ edges: [warned, { edge: 2, source: 1, anchor: "hats", target: "Target 1" }] }, async (window, server) => {
    window.press("a");
    await settle();
    assert.deepEqual([window.open, window.look, window.saved, server.said], [1, "", "All saved", []]);
    assert.equal(window.said, "Not accepted: 3 others say it");
    window.press("aa");
    assert.equal(window.open, 1);
    window.press("y");
    await settle();
    assert.deepEqual(server.states, ["accepted", "suggested"]);
    window.press("y"); // the next card has no such word, and none that asks
    assert.equal(window.open, 2);
  })();
});

test("keys that follow at once on an accept that stopped were meant for the next card, and do nothing", async () => {
  const warned = { edge: 1, source: 1, anchor: "warm boots", target: "Target 0", warnings: [{ code: "identical", text: "3 others say it" }] };
  await inWindow({ edges: [warned, { edge: 2, source: 1, anchor: "hats", target: "Target 1" }] }, async (window, server) => {
    window.press("axs1");
    await settle();
    assert.deepEqual([window.open, window.find("[data-reject]").open, window.find("[name=pick]:checked"), server.said], [1, undefined, null, []]);
    await window.wait(500);
    window.press("s");
    await settle();
    assert.deepEqual([window.open, server.said], [2, ["aside 1"]]);
  })();
});

test("what came back is counted where everything else is said to be saved", inWindow({}, async (window, server) => {
  server.edges.get(1).state = server.edges.get(2).state = "rejected";
  window.press("a");
  await settle();
  assert.equal(window.saved, "1 came back");
  window.press("a");
  await settle();
  assert.equal(window.saved, "2 came back");
  await window.load();
  assert.equal(window.saved, "2 came back");
  window.press("r");
  await settle();
  window.press("jr");
  await settle();
  window.press("j");
  assert.equal(window.saved, "All saved");
}));

test("Escape brings back the warning that the card came with", async () => {
  const warned = { edge: 1, source: 1, anchor: "warm boots", target: "Target 0", warnings: [{ code: "identical", text: "3 others say it" }] };
  await inWindow({ edges: [warned] }, async (window) => {
    window.press([..."e", ..."my target"]);
    await window.wait(500);
    assert.equal(window.find("[data-warnings]").textContent, "");
    assert.equal(window.find("[data-do=anyway]").hidden, true);
    window.press(["Escape"]);
    assert.equal(window.find("[data-warnings]").textContent, "3 others say it");
    assert.deepEqual([window.find("[data-do=anyway]").hidden, window.find("[data-warned-of]").value], [false, "warm boots"]);
  })();
});

test("an operation that is refused but decides nothing comes back too: a request for an opinion", inWindow({}, async (window, server) => {
  server.refuses = "ask";
  window.press("m");
  window.find("[data-ask-form]").requestSubmit();
  await settle();
  assert.deepEqual([window.open, window.look], [2, "1 needs another look"]);
  window.press("r");
  assert.equal(window.open, 1);
}));

test("a comment shows at once and is sent; one that is refused says so where it stands", async () => {
  await inWindow({ canComment: true }, async (window, server) => {
    const say = (words) => {
      window.find("[data-comment-form] [name=text]").value = words;
      window.find("[data-comment-form]").requestSubmit();
    };
    say("<b>Well</b>?");
    assert.match(window.find("[data-comments] li").textContent, /<b>Well<\/b>\?/);
    assert.equal(window.document.activeElement, window.card);
    await settle();
    assert.deepEqual([server.said, window.open], [["comment 1"], 1]);
    say("  ");
    server.refuses = "comment";
    say("Again");
    await settle();
    assert.match(window.find("[data-comments]").textContent, /Again Not saved\. It is refused\./);
    assert.equal(server.said.length, 2);
  })();
});

// After a reload

test("after a reload refused words are offered again, until their card is put back as it came", inWindow({}, async (window) => {
  await rewrite(window, LONG);
  window.press("a");
  await settle();
  await window.load();
  assert.equal(window.look, "1 needs another look");
  assert.match(window.marked[0].textContent, /too many characters/);
  assert.equal(window.open, 3);
  window.press("r");
  await settle();
  assert.deepEqual([window.open, window.anchor, window.look], [1, LONG, ""]);
  await window.load(); // it was looked at, and nothing was done about it
  window.press("r");
  await settle();
  assert.equal(window.open, 1);
  window.press(["e", "Escape"]);
  assert.equal(kept(window), 0);
  await window.load();
  assert.deepEqual([window.look, window.open, window.anchor], ["", 1, "warm boots"]);
}));

test("after a reload u brings back what was refused last, and a decision settles it", inWindow({}, async (window, server) => {
  await rewrite(window, "click here");
  await window.load();
  window.press("u");
  await settle();
  assert.deepEqual([window.open, window.anchor], [1, "click here"]);
  await window.wait(500);
  assert.equal(window.find("[data-do=anyway]").hidden, false);
  window.press("y");
  await settle();
  assert.deepEqual([server.states[0], kept(window)], ["accepted", 0]);
}));

test("a card that somebody else decided first is offered after a reload to be read once", inWindow({}, async (window, server) => {
  await refuseFirst(window, server);
  await window.load();
  window.press("r");
  await settle();
  assert.deepEqual([window.open, window.said], [1, "Not saved: maria decided first"]);
  window.press("ja");
  await settle();
  assert.deepEqual([server.states[1], kept(window)], ["accepted", 0]);
}));

for (const [name, after] of [["at once", () => {}], ["after a reload", (window) => window.load()]]) {
  test(`a decision that is refused for good is gone once it was looked at ${name}, also where the page is loaded again then`, inWindow({}, async (window, server) => {
    await refuseFirst(window, server);
    await after(window);
    assert.equal(window.look, "1 needs another look");
    window.press("r");
    await settle();
    assert.deepEqual([window.open, window.look, kept(window)], [1, "", 0]);
    await window.load();
    assert.deepEqual([window.open, window.look, window.marked.length, window.saved], [2, "", 0, "All saved"]);
  }));
}

test("an address that names it opens it with the words that were refused", inWindow({}, async (window) => {
  await rewrite(window, LONG);
  await window.load({ at: 1 });
  assert.deepEqual([window.open, window.anchor], [1, LONG]);
  window.press("j");
  assert.deepEqual([window.open, window.look], [2, "1 needs another look"]);
}));

test("where no card is left, the end counts what was decided and leads back to what is not saved", inWindow({ count: 2 }, async (window, server) => {
  server.edges.get(1).state = "rejected";
  window.press("aa");
  await settle();
  assert.equal(window.open, 0);
  const row = (name) => window.find(`[data-card] [data-count=${name}]`).closest("[data-end-row]");
  assert.deepEqual([row("accepted").hidden, row("accepted").textContent, row("later").hidden], [false, "1", true]);
  assert.equal(window.find("[data-card] [data-end-look]").hidden, false);
  assert.equal(window.find("[data-card] [data-end-look] [data-look-count]").textContent, "1 needs another look");
  window.find("[data-card] [data-look-again]").fire("click");
  await settle();
  assert.equal(window.open, 1);
}));

test("who was first is said of which link", inWindow({}, async (window, server) => {
  server.edges.get(1).state = "rejected"; // by maria
  window.press("a");
  await settle();
  assert.equal(window.said, "warm boots to Target 0: maria decided first");
}));
