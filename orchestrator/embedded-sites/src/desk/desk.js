// The calculator: numbers, + - * / %, brackets. Read by hand, so nothing that is typed can run.
const form = document.getElementById("calculator");

if (form) {
  const field = form.elements.expression;
  const result = document.getElementById("result");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    result.textContent = calculate(field.value);
  });
  form.addEventListener("click", (event) => {
    const key = event.target.dataset.key;
    if (!key) return;
    field.value = key === "C" ? "" : field.value + key;
    if (key === "C") result.textContent = "";
    field.focus();
  });
}

function calculate(text) {
  const parts = text.match(/\d+(?:\.\d*)?|\.\d+|[-+*/%()]|\S/g) || [];
  let at = 0;
  const sum = () => {
    let value = product();
    while (parts[at] === "+" || parts[at] === "-") value = parts[at++] === "+" ? value + product() : value - product();
    return value;
  };
  const product = () => {
    let value = factor();
    while (parts[at] === "*" || parts[at] === "/") value = parts[at++] === "*" ? value * factor() : value / factor();
    return value;
  };
  const factor = () => {
    let value;
    if (parts[at] === "-") { at++; return -factor(); }
    if (parts[at] === "+") { at++; return factor(); }
    if (parts[at] === "(") {
      at++;
      value = sum();
      if (parts[at++] !== ")") return NaN;
    } else {
      value = /^[\d.]/.test(parts[at] || "") ? Number(parts[at++]) : NaN;
    }
    while (parts[at] === "%") { at++; value /= 100; }
    return value;
  };
  const value = sum();
  if (at < parts.length || !Number.isFinite(value)) return "Error";
  return String(Number(value.toPrecision(12)));
}
