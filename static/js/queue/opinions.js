// Requests for an opinion, which leave the list as a decision does, and comments, which stay on their card.

import { newKey } from "./outbox.js";
import { saying } from "../sayings.js";

export function openAsk(card) {
  const details = card.querySelector("[data-ask]");
  if (!details) return;
  details.open = true;
  details.querySelector("[name=text]").focus(); // what is typed at once is the question
}

export function listenForOpinions({ root, deck, outbox, leave }) {
  const send = {
    ask: (item, form) => leave(item, { key: newKey(), kind: "ask", edge: item.edge, asked_of: form.elements.asked_of.value, text: form.elements.text.value }, "ask"),
    comment: (item, form) => {
      const operation = { key: newKey(), kind: "comment", edge: item.edge, text: form.elements.text.value.trim() };
      if (!operation.text) return;
      outbox.add(operation);
      show(item.node, operation);
      form.reset();
      item.node.focus({ preventScroll: true });
    },
    unask: (item, form) => {
      outbox.add({ key: newKey(), kind: "unask", edge: item.edge });
      form.remove();
    },
  };
  root.addEventListener("submit", (event) => {
    const kind = Object.keys(send).find((name) => event.target.matches(`[data-${name}-form]`));
    const item = deck.current;
    if (!kind || !item?.node.contains(event.target)) return;
    event.preventDefault();
    send[kind](item, event.target);
  });
}

// A comment at the end of its card's, before the server has it.
function show(card, { key, text }) {
  const comments = card.querySelector("[data-comments]");
  const line = document.createElement("li");
  line.dataset.key = key;
  const author = document.createElement("b");
  author.textContent = saying("you");
  const said = document.createElement("span");
  said.className = "edge__said";
  said.textContent = text;
  line.append(author, " ", said);
  comments.querySelector("ol").append(line);
  comments.querySelector(".num").textContent = comments.querySelectorAll("li").length;
}

export function notSaid({ key }, { message }) {
  document.querySelector(`[data-key="${key}"]`)?.append(` ${saying("not-saved-yet", { message })}`);
}
