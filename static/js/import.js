import { saying } from "./sayings.js";

const STALLED_MS = 60_000; // without a byte that the server took: the connection has died without a word

// Shows how far an upload is. Without this file the form is sent as any other.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id !== "upload" || !document.getElementById("id_file").files.length) return;
  event.preventDefault();
  send(form);
});

function send(form) {
  const state = document.getElementById("upload-state");
  const bar = document.getElementById("upload-progress");
  const button = document.getElementById("upload-button");
  const request = new XMLHttpRequest();
  bar.hidden = false;
  button.disabled = true;
  let stalled = setTimeout(() => request.abort(), STALLED_MS);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    clearTimeout(stalled);
    if (loaded < total) stalled = setTimeout(() => request.abort(), STALLED_MS);
    bar.max = total;
    bar.value = loaded;
    state.textContent = loaded < total ? saying("uploading", { percent: Math.floor((100 * loaded) / total) }) : saying("looking");
  });
  request.addEventListener("load", () => {
    // A file that was taken answers with a redirect, which the browser has followed by now.
    if (request.status < 400 && request.responseURL !== form.action) location.assign(request.responseURL);
    else showAnswer(request);
  });
  for (const end of ["error", "abort"]) {
    request.addEventListener(end, () => {
      clearTimeout(stalled);
      bar.hidden = true;
      button.disabled = false;
      state.textContent = saying("broken");
    });
  }
  request.open("POST", form.action);
  request.send(new FormData(form));
}

function showAnswer(request) {
  const answer = new DOMParser().parseFromString(request.responseText, "text/html").getElementById("main");
  if (answer) document.getElementById("main").replaceWith(document.adoptNode(answer));
  else document.getElementById("upload-state").textContent = saying("upload-refused", { status: request.status });
  document.querySelector("#refused, #upload .errorlist")?.scrollIntoView({ block: "center" });
}
