// The account's menu, and the dialog that chooses as whom to act.

async function actAs(user) {
  const reply = await fetch("/desk/impersonate", { method: "POST", body: new URLSearchParams({ user }) });
  if (reply.ok) {
    window.location.reload();
    return null;
  }
  return (await reply.json()).error;
}

// A dialog with one input; what is typed narrows the list of users below it.
function chooseUser() {
  const hoist = document.querySelector("seismic-hoist");
  const dialog = document.createElement("div");
  dialog.className = "dialog";
  dialog.setAttribute("role", "dialog");
  dialog.setAttribute("aria-modal", "true");
  dialog.setAttribute("aria-labelledby", "act-as-title");
  dialog.innerHTML = `
    <h2 id="act-as-title">Act as somebody else</h2>
    <label for="act-as">Select a user</label>
    <input id="act-as" class="now-typeahead-native-input" role="combobox" aria-autocomplete="list"
      aria-expanded="false" aria-controls="act-as-list" autocomplete="off" placeholder="Search for a user">
    <div id="act-as-list" role="listbox" aria-label="Users"></div>
    <p class="wrong" role="alert"></p>
    <div class="buttons">
      <button type="button" class="cancel">Cancel</button>
      <button type="button" class="main" disabled>Impersonate user</button>
    </div>`;
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  const go = dialog.querySelector(".main");
  const before = document.activeElement;
  let chosen = "";
  let turn = 0;
  const close = () => {
    dialog.remove();
    if (before && before.isConnected) before.focus();
  };
  const choose = (row) => {
    chosen = row.id;
    input.value = row.title;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    go.disabled = false;
  };
  input.addEventListener("input", async () => {
    chosen = "";
    go.disabled = true;
    const mine = ++turn;
    const query = new URLSearchParams({ table: "sys_user", text: input.value });
    const reply = await fetch("/desk/complete?" + query);
    const rows = reply.ok ? (await reply.json()).rows : [];
    if (mine !== turn) return;
    list.replaceChildren(...rows.map((row) => {
      const option = document.createElement("div");
      option.setAttribute("role", "option");
      option.tabIndex = 0;
      option.setAttribute("aria-label", row.title);
      option.textContent = row.title;
      option.addEventListener("click", () => choose(row));
      option.addEventListener("keydown", (event) => {
        if (event.key === "Enter") choose(row);
      });
      return option;
    }));
    input.setAttribute("aria-expanded", String(rows.length > 0));
  });
  go.addEventListener("click", async () => {
    const wrong = await actAs(chosen);
    if (wrong) dialog.querySelector(".wrong").textContent = wrong;
  });
  dialog.querySelector(".cancel").addEventListener("click", close);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key !== "Tab") return;
    // The focus stays in the dialog.
    const stops = [...dialog.querySelectorAll("input, button:not(:disabled), [tabindex]")];
    const at = stops.indexOf(document.activeElement);
    const next = (at + (event.shiftKey ? -1 : 1) + stops.length) % stops.length;
    event.preventDefault();
    stops[next].focus();
  });
  hoist.append(dialog);
  input.focus();
}

document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".header-avatar-button");
  const menu = document.querySelector(".account-menu");
  const open = (is) => {
    menu.hidden = !is;
    button.setAttribute("aria-expanded", String(is));
    if (is) menu.querySelector("[role=menuitem]").focus();
  };
  button.addEventListener("click", () => open(menu.hidden));
  document.addEventListener("mousedown", (event) => {
    if (!menu.contains(event.target) && !button.contains(event.target)) open(false);
  });
  menu.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("[role=menuitem]")];
    const at = items.indexOf(document.activeElement);
    if (event.key === "Escape") {
      open(false);
      button.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      items[(at + step + items.length) % items.length].focus();
    }
  });
  menu.addEventListener("click", (event) => {
    const act = event.target.dataset.act;
    if (!act) return;
    open(false);
    if (act === "impersonate") chooseUser();
    if (act === "own") actAs("");
  });
});
