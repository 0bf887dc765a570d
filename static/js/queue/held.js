// Keys wait while the card that they are meant for has not come yet, and so do those after them. What is typed behind a
// key that opened a field of the card goes into the field.

export const isField = (element) => element.matches?.("input:not([type=radio], [type=checkbox]), select, textarea");

export class HeldKeys {
  // `isReady()` says whether the card that keys are meant for is there.
  constructor(isReady) {
    this.isReady = isReady;
    this.keys = [];
  }

  get wait() { return this.keys.length > 0; }

  add(act, isReady = () => true, key = "") {
    this.keys.push({ act, isReady, typed: key.length === 1 ? key : "" });
    this.pump();
  }

  pump() {
    while (this.keys.length && this.isReady() && this.keys[0].isReady()) {
      const { act, typed } = this.keys.shift();
      const field = document.activeElement;
      if (!typed || !isField(field) || !field.closest("[data-card]")) act();
      else if (!field.matches("select")) type(field, typed); // a list of choices takes no letters from here
    }
  }

  // Forgets those that wait, and says how many there were.
  drop() { return this.keys.splice(0).length; }
}

function type(field, typed) {
  field.setRangeText(typed, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
