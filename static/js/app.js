// What every page shares: a server error that htmx received is shown, not swallowed.
document.addEventListener("htmx:responseError", (event) => show(event.detail.xhr.responseText ? `The server refused that (${event.detail.xhr.status}). Reload the page and try again.` : "The server did not answer."));
document.addEventListener("htmx:sendError", () => show("The server cannot be reached. Nothing was saved; try again."));

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
