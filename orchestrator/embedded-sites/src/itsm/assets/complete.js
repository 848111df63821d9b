// Typing into a reference: the records whose names begin with what was typed.
//
// An input has `data-table`, the table that it leads to, and the hidden input of the id is given to
// `completes`. `input.ac.isResolving()` is true from the key on until the menu shows.

const ROWS_OF_MENU = 15;

class Completion {
  constructor(input, hidden, onChange) {
    this.input = input;
    this.hidden = hidden;
    this.onChange = onChange || (() => {});
    this.asked = 0;
    this.answered = 0;
    this.rows = [];
    this.chosen = -1;
    this.menu = null;
    // What the hidden id stands for; anything else in the input is not resolved yet.
    this.resolved = input.value;
    input.ac = this;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("autocomplete", "off");
    input.addEventListener("input", () => this.look());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => {
      this.close();
      this.resolve();
    });
  }

  isResolving() {
    return this.asked !== this.answered;
  }

  async fetchRows(text, exact) {
    const query = new URLSearchParams({ table: this.input.dataset.table, text });
    if (exact) query.set("exact", "true");
    const reply = await fetch("/desk/complete?" + query);
    return reply.ok ? (await reply.json()).rows : [];
  }

  async look() {
    const turn = ++this.asked;
    this.hidden.value = "";
    const text = this.input.value;
    if (text === "") {
      this.answered = turn;
      this.resolved = "";
      this.close();
      this.onChange();
      return;
    }
    const rows = await this.fetchRows(text, false).catch(() => []);
    if (turn !== this.asked) return;
    this.show(rows);
    this.answered = turn;
  }

  show(rows) {
    this.close();
    this.rows = rows;
    if (rows.length === 0 || document.activeElement !== this.input) return;
    const menu = element("div", { class: "ac_dropdown", role: "listbox", id: "ac_menu" });
    rows.forEach((row, index) => {
      const cells = [element("span", { class: "ac_cell" }, row.title)];
      if (row.more) cells.push(element("span", { class: "ac_more" }, row.more));
      const option = element("div", { id: "ac_option_" + index, role: "option", class: "ac_option" }, ...cells);
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => this.choose(index));
      menu.append(option);
    });
    const place = this.input.getBoundingClientRect();
    menu.style.left = place.left + window.scrollX + "px";
    menu.style.top = place.bottom + window.scrollY + "px";
    menu.style.minWidth = place.width + "px";
    document.body.append(menu);
    this.menu = menu;
    this.input.setAttribute("aria-expanded", "true");
    this.input.setAttribute("aria-controls", "ac_menu");
  }

  close() {
    if (this.menu) this.menu.remove();
    this.menu = null;
    this.chosen = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  choose(index) {
    this.set(this.rows[index].id, this.rows[index].title);
    this.close();
  }

  set(id, title) {
    this.asked++;
    this.answered = this.asked;
    this.hidden.value = id;
    this.input.value = title;
    this.resolved = title;
    this.onChange();
  }

  onKey(event) {
    if (event.key === "Enter" && this.menu && this.chosen >= 0) {
      event.preventDefault();
      this.choose(this.chosen);
    } else if (event.key === "Enter") {
      this.close();
      this.resolve();
    } else if (event.key === "Escape" && this.menu) {
      event.stopPropagation();
      this.close();
    } else if (this.menu && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.chosen = (this.chosen + step + this.rows.length) % this.rows.length;
      [...this.menu.children].forEach((option, index) =>
        option.setAttribute("aria-selected", index === this.chosen));
      this.input.setAttribute("aria-activedescendant", "ac_option_" + this.chosen);
    }
  }

  // The record with exactly the typed name, in any case.
  async resolve() {
    const text = this.input.value;
    if (text === "" || text === this.resolved) return;
    const turn = ++this.asked;
    const rows = await this.fetchRows(text, true).catch(() => []);
    if (turn !== this.asked) return;
    this.answered = turn;
    if (rows.length > 0) this.set(rows[0].id, rows[0].title);
  }

  // Resolves when the id stands for what was typed, or there is no such record.
  async settled() {
    if (this.input.value !== this.resolved) await this.resolve();
  }
}
