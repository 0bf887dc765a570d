// The button that prints; without a script the browser's menu does.
const show = () => { for (const button of document.querySelectorAll("[data-print]")) button.hidden = false; };

show();
document.addEventListener("htmx:load", show); // the list may come once more, with what was looked for meanwhile
document.addEventListener("click", ({ target }) => { if (target.closest("[data-print]")) print(); });
