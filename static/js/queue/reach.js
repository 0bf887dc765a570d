// For how long a rejection holds: what was chosen last is chosen on the next card, too.

const NAME = "anchorline:reach";

export function recall(card) {
  const choice = card.querySelector(`[name=reach][value="${localStorage.getItem(NAME) || "good"}"]`);
  if (choice) choice.checked = true;
}

export function remember(choice) { localStorage.setItem(NAME, choice.value); }
