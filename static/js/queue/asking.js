// A request that ends: a connection can die without a word, as when a laptop wakes in another network, and the browser
// waits for its answer for minutes. What is not answered, body and all, within this time fails as if the server could
// not be reached.

export const ANSWER_MS = 60_000;

export function ask(url, options = {}) {
  const ending = new AbortController();
  setTimeout(() => ending.abort(), ANSWER_MS); // which does nothing to one that is answered
  return fetch(url, { ...options, signal: ending.signal });
}
