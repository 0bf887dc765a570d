// For how long a rejection holds: what was chosen last is chosen on the next card, too.

import { local } from "./storage.js";

const NAME = "anchorline:reach";

export function recall(card) {
  const choice = card.querySelector(`[name=reach][value="${local.get(NAME) || "good"}"]`);
  if (choice) choice.checked = true;
}

export function remember(choice) { local.set(NAME, choice.value); }
