// The bounds of the tiers as handles on the histogram. The number fields stay the truth: a handle writes into its field
// and follows it, and the figures under the histogram come from the server, by the form.
const STEP = 0.01; // whole hundredths, by which suggestions are counted
const LEAP = 0.1;
const BY_KEY = { ArrowRight: STEP, ArrowUp: STEP, ArrowLeft: -STEP, ArrowDown: -STEP, PageUp: LEAP, PageDown: -LEAP };

class Handle {
  constructor(field, element, low) {
    Object.assign(this, { field, element, low, form: field.closest("fieldset"), isHeld: false });
    element.addEventListener("keydown", (event) => this.#press(event));
    element.addEventListener("pointerdown", (event) => this.#take(event));
    element.addEventListener("pointermove", (event) => { if (this.isHeld) this.#set(this.#under(event)); });
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => { this.isHeld = false; });
  }

  get value() { return Number(this.field.value); }

  get isShown() {
    return this.field.value !== "" && !this.form.querySelector("input[name$='-DELETE']")?.checked;
  }

  show() {
    const name = this.form.querySelector("input[name$='-name']").value || "+";
    const { element, field, low } = this;
    element.style.left = `${((this.value - low) / (1 - low)) * 100}%`;
    element.classList.toggle("is-right", this.value - low > (1 - low) * 0.5);
    element.setAttribute("aria-label", element.dataset.says.replace("{name}", name));
    element.setAttribute("aria-valuemin", low);
    element.setAttribute("aria-valuemax", 1);
    element.setAttribute("aria-valuenow", field.value);
    element.querySelector(".histogram__tag").textContent = `${name} ${field.value}`;
  }

  #press(event) {
    if (event.key in BY_KEY) this.#set(this.value + BY_KEY[event.key]);
    else if (event.key === "Home") this.#set(this.low);
    else if (event.key === "End") this.#set(1);
    else return;
    event.preventDefault();
  }

  #take(event) {
    if (event.button) return;
    event.preventDefault();
    this.element.focus();
    this.element.setPointerCapture(event.pointerId);
    this.isHeld = true;
  }

  #under(event) {
    const { left, width } = this.element.parentElement.getBoundingClientRect();
    return this.low + ((event.clientX - left) / width) * (1 - this.low);
  }

  #set(value) {
    const bound = String(Math.round(Math.min(1, Math.max(this.low, value)) / STEP) / Math.round(1 / STEP));
    if (bound === this.field.value) return;
    this.field.value = bound;
    this.show();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

const histogram = document.getElementById("histogram");
if (histogram) {
  const room = histogram.querySelector(".histogram__handles");
  const template = histogram.querySelector("template");
  const handles = [...document.querySelectorAll("fieldset.tier input[name$='-lower_bound']")].map((field) => (
    new Handle(field, template.content.firstElementChild.cloneNode(true), Number(histogram.dataset.low) / 100)
  ));

  // One line each, in the order of the fields, so that two at one place can both be taken.
  const arrange = () => {
    const shown = handles.filter((handle) => handle.isShown);
    for (const handle of handles) {
      if (!handle.isShown) handle.element.remove();
    }
    shown.forEach((handle, line) => {
      if (!handle.element.isConnected) room.append(handle.element);
      handle.element.style.setProperty("--line", line);
      handle.show();
    });
    histogram.style.setProperty("--lines", shown.length);
  };
  histogram.classList.add("is-live");
  arrange();
  document.addEventListener("input", (event) => { if (event.target.closest("fieldset.tier")) arrange(); });
}
