// A list: the builder of filters, search, headers, pages and previews. Each leads to an address.

const LIST = model("list");

GlideList2 = {
  get: function (id) {
    if (id !== LIST.id && id !== LIST.table) return null;
    return {
      fields: LIST.fields,
      grandTotalRows: LIST.total,
      sortDir: LIST.orders.length && LIST.orders[0].descending ? "DESC" : "ASC",
      getTitle: () => LIST.title,
      getTableName: () => LIST.table,
      getQuery: () => LIST.query,
      getOrderBy: () => (LIST.orders.length ? LIST.orders[0].column : ""),
    };
  },
};

const OPERATORS = {
  string: [["=", "is"], ["!=", "is not"], ["LIKE", "contains"], ["NOT LIKE", "does not contain"],
    ["STARTSWITH", "starts with"], ["ENDSWITH", "ends with"], ["ISEMPTY", "is empty"],
    ["ISNOTEMPTY", "is not empty"], [">", "greater than"], ["<", "less than"],
    [">=", "greater than or is"], ["<=", "less than or is"]],
  choice: [["=", "is"], ["!=", "is not"], ["LIKE", "contains"], ["ISEMPTY", "is empty"],
    ["ISNOTEMPTY", "is not empty"]],
  boolean: [["=", "is"], ["!=", "is not"]],
  reference: [["=", "is"], ["!=", "is not"], ["LIKE", "contains"], ["STARTSWITH", "starts with"],
    ["ISEMPTY", "is empty"], ["ISNOTEMPTY", "is not empty"]],
};
const WITHOUT_VALUE = ["ISEMPTY", "ISNOTEMPTY", "EMPTYSTRING"];
const FIRST_OF_FIELDS = "-- choose field --";

function column(name) {
  return LIST.columns.find((one) => one.name === name);
}

// The address of this list with a query.
function address(conditions, orders, firstRow) {
  const chain = orders.map((one) => "ORDERBY" + (one.descending ? "DESC" : "") + one.column);
  const query = [...(conditions ? [conditions] : []), ...chain].join("^");
  return "/" + LIST.table + "_list.do?sysparm_query=" + encodeURIComponent(query) +
    "&sysparm_first_row=" + firstRow + "&sysparm_view=";
}

function go(conditions, orders, firstRow) {
  window.location.assign(address(conditions, orders, firstRow || 1));
}

function fieldSelect(chosen) {
  const select = element("select", { class: "filerTableSelect", name: "", "aria-label": "Field" },
    element("option", { value: "" }, FIRST_OF_FIELDS));
  for (const one of LIST.columns) {
    select.append(element("option", { value: one.name, selected: one.name === chosen }, one.label));
  }
  return select;
}

// A condition: field, operator and value.
function conditionRow(condition) {
  const field = fieldSelect(condition.column);
  const operator = element("select", { class: "condOperator", name: "", "aria-label": "Operator" });
  const value = element("td", { id: "value" });
  const remove = element("button", {
    type: "button", class: "filerTableAction deleteButton", "aria-label": "Remove condition",
  }, "×");
  const row = element("tr", { class: "filter_row" },
    element("td", { class: "joint" }, condition.or ? "or" : condition.first ? "" : "and"),
    element("td", {}, field), element("td", {}, operator), value, element("td", {}, remove));
  row.or = condition.or;

  const showValue = (given, shown) => {
    value.replaceChildren();
    const one = column(field.value);
    row.read = () => "";
    if (!one || WITHOUT_VALUE.includes(operator.value)) return;
    const label = { name: "", "aria-label": "Value" };
    if (one.kind === "choice" || one.kind === "boolean") {
      const select = element("select", label);
      const choices = one.kind === "boolean"
        ? [{ value: "true", label: "true" }, { value: "false", label: "false" }]
        : [...(one.choices.some((choice) => choice.value === "") ? [] : [{ value: "", label: "-- None --" }]),
          ...one.choices];
      for (const choice of choices) {
        select.append(element("option", { value: choice.value, selected: choice.value === given }, choice.label));
      }
      value.append(select);
      row.read = () => select.value;
    } else if (one.kind === "reference" && (operator.value === "=" || operator.value === "!=")) {
      const hidden = element("input", { type: "hidden", name: "", value: given });
      const input = element("input", { type: "text", ...label, value: shown, "data-table": one.reference });
      value.append(hidden, input);
      new Completion(input, hidden);
      row.settled = () => input.ac.settled();
      row.read = () => hidden.value || input.value;
    } else {
      const input = element("input", { type: "text", class: "filerTableInput", ...label, value: given });
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") run();
      });
      value.append(input);
      row.read = () => input.value;
    }
  };
  const showOperators = (given) => {
    operator.replaceChildren();
    const one = column(field.value);
    for (const [symbol, text] of OPERATORS[one ? one.kind : "string"]) {
      operator.append(element("option", { value: symbol, selected: symbol === given }, text));
    }
    if (given && operator.value !== given) {
      operator.append(element("option", { value: given, selected: true }, given));
    }
    operator.disabled = !one;
    remove.hidden = !one;
  };
  field.addEventListener("change", () => {
    showOperators("=");
    showValue("", "");
  });
  operator.addEventListener("change", () => showValue("", ""));
  remove.addEventListener("click", () => {
    row.remove();
    if (conditionRows().length === 0) addCondition({ column: "", first: true });
    const first = conditionRows()[0];
    first.or = false;
    first.querySelector(".joint").textContent = "";
  });
  row.condition = () => {
    if (!field.value) return null;
    const typed = row.read();
    const name = field.value;
    if (WITHOUT_VALUE.includes(operator.value)) return name + operator.value;
    if (typed === "" && operator.value === "=") return name + "ISEMPTY";
    if (typed === "" && operator.value === "!=") return name + "ISNOTEMPTY";
    return name + operator.value + typed.replaceAll("^", "^^");
  };
  showOperators(condition.operator || "=");
  showValue(condition.value || "", condition.shown || "");
  return row;
}

// A key of the order: field and direction.
function sortRow(order) {
  const field = fieldSelect(order.column);
  const direction = element("select", { class: "filerTableSelect", name: "", "aria-label": "Direction" },
    element("option", { value: "" }, "ascending"),
    element("option", { value: "DESC", selected: order.descending }, "descending"));
  const remove = element("button", { type: "button", class: "filerTableAction removeSort", "aria-label": "Remove sort" }, "×");
  const row = element("tr", { class: "filter_row sort_row" },
    element("td", { class: "joint" }, "order by"),
    element("td", {}, field), element("td", {}, direction), element("td", {}), element("td", {}, remove));
  remove.addEventListener("click", () => row.remove());
  row.order = () => (field.value ? { column: field.value, descending: direction.value === "DESC" } : null);
  return row;
}

function body() {
  return document.querySelector(".filter-rows tbody");
}

function conditionRows() {
  return [...body().querySelectorAll(".filter_row:not(.sort_row)")];
}

function sortRows() {
  return [...body().querySelectorAll(".sort_row")];
}

function addCondition(condition) {
  const row = conditionRow(condition);
  const sort = body().querySelector(".sort_row");
  if (sort) sort.before(row);
  else body().append(row);
}

async function run() {
  const rows = conditionRows();
  for (const row of rows) if (row.settled) await row.settled();
  let conditions = "";
  for (const row of rows) {
    const condition = row.condition();
    if (condition === null) continue;
    conditions += (conditions === "" ? "" : row.or ? "^OR" : "^") + condition;
  }
  go(conditions, sortRows().map((row) => row.order()).filter((order) => order !== null));
}

function preview(link) {
  const row = link.closest("tr");
  const heads = [...document.querySelectorAll("thead .head")];
  const cells = [...row.cells].slice(2);
  const list = element("dl", {});
  cells.forEach((cell, index) => {
    list.append(element("dt", {}, heads[index].textContent), element("dd", {}, cell.textContent));
  });
  const open = element("a", { href: link.dataset.href, "data-focus": true }, "Open Record");
  const box = element("div", { class: "popover", role: "dialog", "aria-label": "Preview" }, open, list);
  const place = link.getBoundingClientRect();
  box.style.left = place.left + window.scrollX + "px";
  box.style.top = place.bottom + window.scrollY + "px";
  popover(box);
}

function onReady() {
  LIST.rows.forEach((row, index) => addCondition({ ...row, first: index === 0 }));
  if (LIST.rows.length === 0) addCondition({ column: "", first: true });
  for (const order of LIST.orders) body().append(sortRow(order));

  const filter = document.querySelector(".list_filter");
  const toggle = document.querySelector(".list_filter_toggle");
  toggle.addEventListener("click", () => {
    filter.hidden = !filter.hidden;
    toggle.setAttribute("aria-expanded", String(!filter.hidden));
  });
  document.querySelector(".filterToolbar").addEventListener("click", (event) => {
    const act = event.target.dataset.act;
    if (act === "run") run();
    if (act === "and" || act === "or") addCondition({ column: "", or: act === "or" });
    if (act === "sort") body().append(sortRow({ column: "", descending: false }));
  });

  const search = document.querySelector(".list-search");
  search.querySelector("input").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const typed = event.target.value;
    const name = search.querySelector("select").value;
    const condition = typed.startsWith("*") ? name + "LIKE" + typed.slice(1) : name + "STARTSWITH" + typed;
    const all = typed === "" ? LIST.query : [LIST.query, condition].filter((one) => one !== "").join("^");
    go(all, LIST.orders);
  });

  for (const head of document.querySelectorAll("thead .head")) {
    head.addEventListener("click", () => {
      const first = LIST.orders[0];
      const again = first && first.column === head.dataset.column && !first.descending;
      go(LIST.query, [{ column: head.dataset.column, descending: Boolean(again) }]);
    });
  }
  for (const button of document.querySelectorAll(".pages button")) {
    button.addEventListener("click", () => go(LIST.query, LIST.orders, button.dataset.first));
  }
  for (const link of document.querySelectorAll("a.preview")) {
    link.addEventListener("click", () => preview(link));
    link.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        preview(link);
      }
    });
  }
  document.querySelector("#sysverb_new").addEventListener("click", () => {
    const landing = LIST.table === "change_request" ? "/sn_chg_model_ui_landing.do" : null;
    window.location.assign(landing || "/" + LIST.table + ".do?sys_id=-1");
  });
  const all = document.querySelector("thead input[type=checkbox]");
  all.addEventListener("click", () => {
    for (const box of document.querySelectorAll(".list2_body input[type=checkbox]")) box.checked = all.checked;
  });
}

document.addEventListener("DOMContentLoaded", onReady);
