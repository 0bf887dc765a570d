// A key that is pressed in a field becomes that action's. What cannot be had is said at once; the server judges all of
// it again when it is saved.

import { saying } from "../sayings.js";

const LEFT_ALONE = ["Tab", "Enter", "Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Backspace", "Delete"];
const form = document.querySelector("[data-own-keys]");
const fields = [...form.querySelectorAll("input[maxlength]")];
const row = (field) => field.closest("tr");

function say(field, words) {
  row(field).querySelector("ul.errorlist")?.remove();
  const place = row(field).querySelector("[data-wrong]");
  place.textContent = words;
  place.hidden = !words;
}

// Of two fields with one key, the one that was changed is told; where neither was, both.
function sayWhatIsTaken() {
  for (const field of fields) {
    const other = fields.find((one) => one !== field && one.value && one.value === field.value);
    const isTaken = other && (field.value !== field.defaultValue || other.value === other.defaultValue);
    say(field, isTaken ? saying("taken", { key: field.value, action: row(other).querySelector("label").textContent }) : "");
  }
}

form.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!fields.includes(field) || event.isComposing || LEFT_ALONE.includes(event.key)) return;
  const isTyped = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isTyped || event.key === " ") {
    if (event.key === " ") event.preventDefault();
    const name = event.key === " " ? "␣" : event.key;
    return say(field, saying("not-ours", { key: event.ctrlKey || event.metaKey ? `Ctrl+${name}` : event.altKey ? `Alt+${name}` : name }));
  }
  event.preventDefault();
  if (/[1-9]/.test(event.key)) return say(field, saying("digit", { key: event.key }));
  field.value = event.key;
  field.select();
  sayWhatIsTaken();
});

form.addEventListener("input", sayWhatIsTaken);

// What was pressed before this script had come stands in its field, and nothing has been said of it yet. What the server
// has said of the others stays.
const early = fields.filter((field) => field.value !== field.defaultValue);
if (early.length) sayWhatIsTaken();
for (const field of early) if (/[1-9]/.test(field.value)) say(field, saying("digit", { key: field.value }));
form.addEventListener("focusin", (event) => { if (fields.includes(event.target)) event.target.select(); });
