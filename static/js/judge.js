// Keys on the page where links are judged: a digit gives a grade, o and t open the pages, u takes the last one back.

import { isField } from "./queue/held.js";

const PRESSES = { o: "[data-open-donor]", t: "[data-open-target]", u: "[data-judge-undo]" };

document.addEventListener("keydown", (event) => {
  if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  const selector = /^[1-9]$/.test(event.key) ? `[data-grade="${event.key}"]` : PRESSES[event.key];
  const button = selector && document.querySelector(selector);
  if (!button) return;
  event.preventDefault();
  button.click();
});
