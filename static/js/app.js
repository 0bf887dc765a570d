import { saying } from "./sayings.js";

// What every page shares: a server error that htmx received is shown, not swallowed.
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  if (!xhr.responseText) return show(saying("silent"));
  const isSentence = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  show(xhr.status === 503 && isSentence ? xhr.responseText : saying("refused", { status: xhr.status }));
});
document.addEventListener("htmx:sendError", () => show(saying("unreachable")));
document.addEventListener("htmx:timeout", () => show(saying("unreachable")));

// What is read and gets no answer ends, as over a connection that died without a word: a page that asks for itself waits
// for each answer before it asks again. What is sent may be a large file, and takes as long as it does.
const ANSWER_MS = 120_000; // the server gives up before
document.addEventListener("htmx:configRequest", ({ detail }) => { if (detail.verb === "get") detail.timeout = ANSWER_MS; });

function show(text) {
  const note = document.createElement("p");
  note.className = "notice notice--bad";
  note.setAttribute("role", "alert");
  note.textContent = text;
  document.getElementById("messages").replaceChildren(note);
}

// A session that ended while a page was open: the answer is the sign-in page, which belongs in no fragment.
document.addEventListener("htmx:beforeSwap", (event) => {
  const address = new URL(event.detail.xhr.responseURL || location.href);
  if (address.pathname !== "/login/") return;
  event.detail.shouldSwap = false;
  location.reload();
});

// A page that the browser kept as it was, for its back button, may show what has been decided since, or belong to
// somebody who has signed out.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// A double click sends a form once. A form whose answer is a file stays on the page, and may be sent again.
const AGAIN_MS = 1500;
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "1";
  setTimeout(() => delete form.dataset.sent, AGAIN_MS);
});

// A short name follows the name until somebody writes one.
for (const field of document.querySelectorAll("[data-filled-from]")) {
  const source = document.getElementById(field.dataset.filledFrom);
  const made = () => source.value.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, field.maxLength);
  let follows = field.value === "" || field.value === made();
  source.addEventListener("input", () => { if (follows) field.value = made(); });
  field.addEventListener("input", () => { follows = field.value === ""; });
}

// Of tabs that do not fit the window, the one that is open is in sight.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
  const tabs = tab.closest(".tabs");
  tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;
}

// The explanation of a word opens at a click, a tap or a key by itself; here also at a hover, and near the word.
const HOVER_MS = 250;
let hover = 0;
document.addEventListener("mouseover", (event) => {
  const word = event.target.closest(".term");
  clearTimeout(hover);
  if (word) hover = setTimeout(() => noteOf(word).showPopover(), HOVER_MS);
});
document.addEventListener("mouseout", (event) => {
  const word = event.target.closest(".term");
  if (word && document.activeElement !== word) noteOf(word).hidePopover();
});
// A note that stays open behind the focus hides what stands below the word.
document.addEventListener("focusout", (event) => {
  const word = event.target.closest(".term");
  if (word && event.relatedTarget && !word.matches(":hover")) noteOf(word).hidePopover();
});
document.addEventListener("beforetoggle", (event) => {
  const note = event.target;
  if (!note.matches?.(".term__note") || event.newState !== "open") return;
  const box = document.querySelector(`[popovertarget="${note.id}"]`).getBoundingClientRect();
  const width = Math.min(320, innerWidth - 32);
  note.style.width = `${width}px`;
  note.style.left = `${Math.max(16, Math.min(box.left, innerWidth - width - 16))}px`;
  note.style.top = box.bottom + 160 < innerHeight ? `${box.bottom + 4}px` : "auto";
  note.style.bottom = box.bottom + 160 < innerHeight ? "auto" : `${innerHeight - box.top + 4}px`;
}, true);

function noteOf(word) {
  return document.getElementById(word.getAttribute("popovertarget"));
}
