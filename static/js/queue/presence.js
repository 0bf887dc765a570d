// Tells the server which card is open, and shows on the card who else has it open. Nothing waits for this.

import { counted } from "../sayings.js";

const AFTER_MS = 1000; // once the card has been open for this long
const EVERY_MS = 20_000;

export function watch(root, token) {
  const place = root.querySelector("[data-card]");
  let timer = setTimeout(tell, AFTER_MS);

  async function tell() {
    timer = setTimeout(tell, EVERY_MS);
    const card = place.querySelector("[data-edge]");
    if (!card || document.hidden) return;
    const url = `${root.dataset.edgeUrl.replace("/0/", `/${card.dataset.edge}/`)}presence/`;
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": token } }).catch(() => null);
    show(card, response?.ok && !response.redirected ? (await response.json()).names : []);
  }

  new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(tell, AFTER_MS);
  }).observe(place, { childList: true });
}

function show(card, names) {
  card.querySelector("[data-looking]")?.remove();
  if (!names.length) return;
  const sign = document.createElement("span");
  sign.className = "badge";
  sign.dataset.looking = "";
  sign.textContent = counted("looking", names.length, { names: names.join(", ") });
  card.querySelector(".edge__top").append(sign);
}
