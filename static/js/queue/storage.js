// The browser's storage. Where it is full or switched off, what is written lasts as long as the page: then everything is
// sent all the same, and only a page that is left too soon forgets what was not.

class Storage {
  // `browsers()`: the browser's own, which may not be had.
  constructor(browsers) {
    this.browsers = browsers;
    this.notKept = new Map();
  }

  get(name) {
    if (this.notKept.has(name)) return this.notKept.get(name);
    try {
      return this.browsers().getItem(name);
    } catch {
      return null;
    }
  }

  set(name, text) {
    this.notKept.delete(name);
    try {
      this.browsers().setItem(name, text);
    } catch {
      this.remove(name); // what it held is not so any more
      this.notKept.set(name, text);
    }
  }

  remove(name) {
    this.notKept.delete(name);
    try {
      this.browsers().removeItem(name);
    } catch {
      // It holds nothing.
    }
  }

  // The names of what outlives the page.
  names() {
    try {
      return Object.keys(this.browsers());
    } catch {
      return [];
    }
  }

  keeps(name) { return !this.notKept.has(name); }
}

export const local = new Storage(() => localStorage);
export const session = new Storage(() => sessionStorage);
