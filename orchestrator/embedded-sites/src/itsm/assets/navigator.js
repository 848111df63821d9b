// The navigator: applications, their sections and modules, as a tree that typing narrows.
//
// Each application and section has a shadow root of its own, so that a search from a module upwards
// ends at the section that it is in.

const NAVIGATOR_STYLE = new CSSStyleSheet();
NAVIGATOR_STYLE.replaceSync(`
  :host { display: block; }
  button, a { font: inherit; color: inherit; }
  button { display: flex; gap: .5em; width: 100%; padding: .35em .5em; border: 0; background: none; text-align: start; cursor: pointer; }
  button::before { content: ""; flex: none; align-self: center; border: .3em solid transparent; border-inline-start-color: currentColor; }
  button[aria-expanded="true"]::before { transform: rotate(90deg) translateX(.1em); }
  a { display: block; padding: .35em .5em .35em 1.9em; text-decoration: none; }
  a:hover, button:hover { background: color-mix(in srgb, currentColor 12%, transparent); }
  a:focus-visible, button:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
  .snf-collapsible-list-items { padding-inline-start: .9em; }
`);

customElements.define("desk-entry", class extends HTMLElement {
  show(entry, isOpen) {
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [NAVIGATOR_STYLE];
    const head = document.createElement("button");
    head.type = "button";
    head.className = "snf-collapsible-list-header";
    head.setAttribute("aria-label", entry.label);
    head.textContent = entry.label;
    const items = document.createElement("div");
    items.className = "snf-collapsible-list-items";
    const open = (is) => {
      head.setAttribute("aria-expanded", String(is));
      items.hidden = !is;
      // The modules are made once they are looked at.
      if (is && !items.hasChildNodes()) this.fill(items, entry, isOpen);
    };
    head.addEventListener("click", () => open(head.getAttribute("aria-expanded") !== "true"));
    const list = document.createElement("div");
    list.className = "snf-collapsible-list";
    list.append(head, items);
    root.append(list);
    open(isOpen);
    return this;
  }

  fill(items, entry, isOpen) {
    for (const module of entry.modules) {
      const link = document.createElement("a");
      link.href = module.address;
      link.setAttribute("aria-label", module.label);
      link.textContent = module.label;
      const row = document.createElement("div");
      row.className = "menu-item-row";
      row.append(link);
      items.append(row);
    }
    for (const section of entry.sections) {
      items.append(document.createElement("desk-entry").show(section, isOpen));
    }
  }
});

// The part of an entry that has the text in a name; all of it where its own name has it.
function narrowed(entry, text) {
  if (entry.label.toLowerCase().includes(text)) return entry;
  const modules = entry.modules.filter((module) => module.label.toLowerCase().includes(text));
  const sections = entry.sections.map((section) => narrowed(section, text)).filter((section) => section);
  return modules.length || sections.length ? { label: entry.label, modules, sections } : null;
}

// Exact names first, then those that begin with the text, then those that have it, then the rest.
function rank(entry, text) {
  const label = entry.label.toLowerCase();
  if (label === text) return 0;
  if (label.startsWith(text)) return 1;
  return label.includes(text) ? 2 : 3;
}

function showModules(list, typed) {
  const all = JSON.parse(document.getElementById("modules").textContent);
  const text = typed.trim().toLowerCase();
  let entries = all;
  if (text !== "") {
    entries = all.map((entry) => narrowed(entry, text)).filter((entry) => entry);
    entries.sort((left, right) => rank(left, text) - rank(right, text));
  }
  list.replaceChildren(...entries.map((entry) =>
    document.createElement("desk-entry").show(entry, text !== "")));
  if (entries.length === 0) list.textContent = "No module has this in its name.";
}

document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".bar-menu");
  const panel = document.getElementById("navigator");
  const input = panel.querySelector("input");
  const list = panel.querySelector(".navigator-list");
  const open = (is) => {
    panel.hidden = !is;
    button.setAttribute("aria-expanded", String(is));
    if (is) {
      showModules(list, input.value);
      input.focus();
    } else if (panel.contains(document.activeElement)) {
      button.focus();
    }
  };
  const toggle = () => open(panel.hidden);
  button.addEventListener("click", toggle);
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle();
  });
  input.addEventListener("input", () => showModules(list, input.value));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) {
      open(false);
      button.focus();
    }
  });
});
