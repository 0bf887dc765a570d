// What scripts say is on the page, in <template data-sayings>, in the reader's language.

const number = new Intl.NumberFormat(document.documentElement.lang);

// The words of that name, with {placeholders} filled in.
export function saying(name, values = {}) {
  const pages = [...document.querySelectorAll("template[data-sayings]")];
  const found = pages.map((page) => page.content.querySelector(`[data-saying="${name}"]`)).find(Boolean);
  return (found ? found.textContent.trim() : name).replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

// The same of a number: "name.one" or "name.many", with {count}.
export function counted(name, count, values = {}) {
  return saying(`${name}.${count === 1 ? "one" : "many"}`, { count: number.format(count), ...values });
}
