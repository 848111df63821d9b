// Dialogs over a form. The browser keeps the focus within them, and Escape closes them.

// A dialog at the end of the page; it is gone once it is closed.
function dialog(title, ...content) {
  const box = element("dialog", { class: "over", "aria-label": title },
    element("header", { "aria-label": title }, element("h2", {}, title)), ...content);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

function dialogButtons(...buttons) {
  return element("div", { class: "form-buttons" }, ...buttons.map(([text, attributes, act]) => {
    const button = element("button", { type: "button", ...attributes }, text);
    button.addEventListener("click", () => {
      button.closest("dialog").close();
      if (act) act();
    });
    return button;
  }));
}

function confirmRemoval(what, remove) {
  dialog("Confirmation",
    element("p", {}, "Delete " + what + "? This cannot be undone."),
    dialogButtons(["Cancel", {}], ["Delete", { class: "main", autofocus: true }, remove]));
}

function explainDuplicate(then) {
  dialog("Mark as a duplicate",
    element("p", {}, "Give the number of the original problem in the field “Duplicate of”, then save the form."),
    dialogButtons(["Close", { autofocus: true }, then]));
}

// The records of a table, to choose one: `choose` gets its id and title.
function lookUp(table, label, choose) {
  const search = element("input", {
    type: "search", name: "", autofocus: true, autocomplete: "off", "aria-label": "Find a record",
    placeholder: "Beginning of the name",
  });
  const list = element("ul", { class: "found" });
  const note = element("p", { class: "quiet", role: "status" });
  let turn = 0;
  const find = async () => {
    const mine = ++turn;
    const query = new URLSearchParams({ table, text: search.value });
    const reply = await fetch("/desk/complete?" + query).catch(() => null);
    const rows = reply && reply.ok ? (await reply.json()).rows : [];
    if (mine !== turn) return;
    note.textContent = rows.length === 0 ? "No records found." : "";
    list.replaceChildren(...rows.map((row) => {
      const button = element("button", { type: "button" }, row.title);
      if (row.more) button.append(element("span", { class: "quiet" }, row.more));
      button.addEventListener("click", () => {
        box.close();
        choose(row.id, row.title);
      });
      return element("li", {}, button);
    }));
  };
  // Arrows go through the search box and the records.
  const onKey = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [search, ...list.querySelectorAll("button")];
    const next = stops.indexOf(document.activeElement) + step;
    if (stops[next]) stops[next].focus();
  };
  const box = dialog("Look up: " + label, search, list, note, dialogButtons(["Cancel", {}]));
  box.addEventListener("keydown", onKey);
  search.addEventListener("input", find);
  find();
}
