// A form: what the package reads of it, its tabs, references, rules, and how it is sent.

const FORM = model("form");
const FIELDS = FORM.sections.flatMap((section) => section.fields);
const TABS = FORM.sections.slice(1);
// The values with which the form was opened.
const OPENED = new Map();
// Whether it is on its way.
let isSending = false;

function fieldOf(name) {
  return FIELDS.find((field) => field.name === name);
}

// The element that has the stored value.
function primary(name) {
  return document.getElementById(FORM.table + "." + name);
}

// The element that people use.
function visible(name) {
  const field = fieldOf(name);
  const prefix = { reference: "sys_display.", boolean: "ni." }[field && field.control] || "";
  return document.getElementById(prefix + FORM.table + "." + name);
}

var g_form = {
  elements: FIELDS.map((field) => ({
    fieldName: field.name,
    type: field.kind,
    mandatory: field.mandatory,
    reference: field.reference || "",
  })),
  getTableName: () => FORM.table,
  getUniqueValue: () => FORM.sys_id,
  isNewRecord: () => FORM.is_new,
  getEditableFields: () => FIELDS.filter((field) => !field.read_only).map((field) => field.name),
  getLabelOf: (name) => (fieldOf(name) ? fieldOf(name).label : ""),
  getElement: (name) => primary(name),
  getControl: (name) => primary(name),
  getControls: (name) => (primary(name) ? [primary(name)] : []),
  getDisplayBox: (name) => visible(name),
  getGlideUIElement: (name) => g_form.elements.find((one) => one.fieldName === name) || null,
  isVisible: (element, control) => Boolean(element && control),
  isMandatory: (name) => Boolean((g_form.getGlideUIElement(name) || {}).mandatory),
  getValue: (name) => (primary(name) ? primary(name).value : ""),
  setMandatory: (name, mandatory) => {
    const field = g_form.getGlideUIElement(name);
    if (!field) return;
    field.mandatory = Boolean(mandatory);
    visible(name).setAttribute("aria-required", String(field.mandatory));
    visible(name).closest(".field").classList.toggle("mandatory", field.mandatory);
  },
  // No events: they are for what visitors do.
  setValue: (name, value, shown) => {
    if (!primary(name)) return;
    primary(name).value = value;
    const field = fieldOf(name);
    if (field.control === "boolean") visible(name).checked = value === "true";
    if (field.control !== "reference") return;
    const input = visible(name);
    if (input.ac) input.ac.set(value, shown === undefined ? value : shown);
    else input.value = shown === undefined ? value : shown;
  },
};

var g_tabs2Sections = {
  tabIDs: TABS.map((tab) => "tabs2_section." + FORM.table + "." + tab.id),
  tabsTabs: TABS.map((tab) => ({
    get element() {
      return document.getElementById("tab-" + tab.id);
    },
  })),
};

// Sends the form. The package replaces it by one that calls a copy made of its text, so that it
// uses global names alone.
function gsftSubmit(control, form, actionName) {
  sendForm();
}

function say(text) {
  document.getElementById("form-alert").textContent = text;
}

// Shows a field, also where its tab is not the chosen one.
function reveal(name) {
  const tab = TABS.find((one) => one.fields.some((field) => field.name === name));
  if (tab) document.getElementById("tab-" + tab.id).click();
  visible(name).focus();
}

// Says what is wrong with fields, and shows the first.
function complain(text, names) {
  say(text);
  for (const name of names) visible(name).setAttribute("aria-invalid", "true");
  reveal(names[0]);
}

// Whether all is there that has to be.
function isComplete() {
  for (const field of FIELDS) visible(field.name).removeAttribute("aria-invalid");
  const labels = (fields) => fields.map((field) => g_form.getLabelOf(field.fieldName || field.name)).join(", ");
  const unknown = FIELDS.filter((field) => {
    return field.control === "reference" && visible(field.name).value.trim() !== "" && primary(field.name).value === "";
  });
  if (unknown.length > 0) {
    complain("There is no such record: " + labels(unknown) + ".", unknown.map((field) => field.name));
    return false;
  }
  const missing = g_form.elements.filter((field) => {
    return field.mandatory && !fieldOf(field.fieldName).read_only && g_form.getValue(field.fieldName).trim() === "";
  });
  if (missing.length > 0) {
    complain("These fields are mandatory and empty: " + labels(missing) + ".", missing.map((field) => field.fieldName));
    return false;
  }
  return true;
}

// Asks the desk; gives its answer, or null where it says no.
async function ask(address, sent) {
  try {
    const reply = await fetch(address, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(sent),
    });
    if (reply.redirected) {
      say("You are logged out. Log in again in another tab, then send the form once more.");
      return null;
    }
    const answer = await reply.json();
    if (reply.ok) return answer;
    say(answer.error);
  } catch {
    say("The desk does not answer. What you typed is still here: try again.");
  }
  return null;
}

async function sendForm() {
  if (isSending) return;
  isSending = true;
  say("");
  // Of an old record only what is another than before.
  const values = () => Object.fromEntries(FIELDS
    .filter((field) => !field.read_only && (FORM.is_new || g_form.getValue(field.name) !== OPENED.get(field.name)))
    .map((field) => [field.name, g_form.getValue(field.name)]));
  for (const field of FIELDS) {
    const input = visible(field.name);
    if (input.ac) await input.ac.settled();
  }
  const sent = isComplete() && await ask("/desk/save", {
    table: FORM.table, sys_id: FORM.sys_id, is_new: FORM.is_new, values: values(),
  });
  // On the way to the list a second press sends nothing.
  isSending = Boolean(sent);
  if (sent) window.location.assign(FORM.back);
}

async function removeRecord() {
  const removed = await ask("/desk/remove", { table: FORM.table, sys_id: FORM.sys_id });
  if (removed) window.location.assign(FORM.back);
}

// A reference that is chosen in a menu is changed by the visitor as one that is typed.
function completeReference(field) {
  const input = visible(field.name);
  const hidden = primary(field.name);
  let before = hidden.value;
  new Completion(input, hidden, () => {
    if (hidden.value === before) return;
    before = hidden.value;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

function judgePriority() {
  const sum = Number(g_form.getValue("impact")) + Number(g_form.getValue("urgency"));
  if (sum >= 2) g_form.setValue("priority", String(Math.min(sum - 1, 5)));
}

document.addEventListener("DOMContentLoaded", () => {
  for (const field of FIELDS) {
    OPENED.set(field.name, primary(field.name).value);
    if (field.read_only) continue;
    if (field.control === "reference") completeReference(field);
    if (field.control === "boolean") {
      visible(field.name).addEventListener("change", (event) => {
        primary(field.name).value = String(event.target.checked);
      });
    }
  }
  if (FORM.is_judged) {
    for (const name of ["impact", "urgency"]) {
      if (visible(name)) visible(name).addEventListener("change", judgePriority);
    }
  }
  tabList(g_tabs2Sections.tabsTabs.map((tab) => tab.element), (chosen) => {
    for (const tab of TABS) {
      document.getElementById("section-" + tab.id).hidden = chosen.id !== "tab-" + tab.id;
    }
  });
  for (const button of document.querySelectorAll(".look-up")) {
    button.addEventListener("click", () => {
      const field = fieldOf(button.dataset.field);
      const input = visible(field.name);
      lookUp(field.reference, field.label, (id, title) => {
        input.ac.set(id, title);
        input.focus();
      });
    });
  }
  const remove = document.getElementById("sysverb_delete");
  if (remove) {
    const title = document.querySelector("h1 span").textContent;
    remove.addEventListener("click", () => confirmRemoval(title, removeRecord));
  }
  const duplicate = document.getElementById("mark_duplicate");
  if (duplicate) duplicate.addEventListener("click", () => explainDuplicate(() => reveal("duplicate_of")));
});
