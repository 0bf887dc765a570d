// Keys that are pressed before the queue has been loaded are kept for it: see keys.js.
window.earlyKeys = [];
window.keepKey = (event) => { if (!event.ctrlKey && !event.metaKey && !event.altKey) window.earlyKeys.push(event); };
document.addEventListener("keydown", window.keepKey);
