// An item of the catalogue: its options, and the names by which the package reads them.

const FIELDS = model("fields");

function field(id) {
  return FIELDS.find((one) => one.id === id);
}

function control(id) {
  const one = field(id);
  if (!one) return null;
  return one.control === "radio" ? radios(id)[0] || null : document.getElementById(id);
}

function radios(id) {
  return [...document.getElementsByName(id)];
}

var g_form = {
  getEditableFields: () => FIELDS.map((one) => one.id),
  getLabelOf: (id) => (field(id) ? field(id).label : ""),
  getControl: (id) => control(id),
  getControls: (id) => (field(id) && field(id).control === "radio" ? radios(id) : [control(id)].filter((one) => one)),
  getElement: (id) => document.getElementById("element." + id),
  getValue: function (id) {
    const one = field(id);
    if (!one) return "";
    if (one.control !== "radio") return control(id).value;
    const chosen = radios(id).find((radio) => radio.checked);
    return chosen ? chosen.value : "";
  },
  setValue: function (id, value) {
    const one = field(id);
    if (!one) return;
    if (one.control === "radio") {
      for (const radio of radios(id)) radio.checked = radio.value === value;
      return;
    }
    control(id).value = value;
    const box = document.getElementById("ni." + id);
    if (box) box.checked = control(id).value === "true";
  },
  getTableName: () => "sc_cat_item",
  isMandatory: () => false,
  isVisible: (id) => field(id) !== undefined,
};

document.addEventListener("DOMContentLoaded", () => {
  for (const one of FIELDS) {
    const box = document.getElementById("ni." + one.id);
    if (!box) continue;
    const hidden = control(one.id);
    // Browsers restore the box when the visitor comes back, and not always what goes with it.
    const copy = () => {
      hidden.value = String(box.checked);
    };
    box.addEventListener("change", copy);
    window.addEventListener("pageshow", copy);
  }
  // Enter in a line of text would order at once.
  document.querySelector("form.item").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  });
});
