// The same questions from a frame of another origin; the answers are shown here and told to the page around it.
"use strict";
const list = document.getElementById("values");
const bytes = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const values = {
  "Date.now": Date.now(),
  "Math.random": Math.random(),
  "crypto.randomUUID": crypto.randomUUID(),
  "crypto.getRandomValues": bytes,
  "performance.now": performance.now(),
};
for (const [name, value] of Object.entries(values)) {
  list.append(
    Object.assign(document.createElement("dt"), { textContent: name }),
    Object.assign(document.createElement("dd"), { textContent: String(value) }),
  );
}
parent.postMessage(Object.values(values).join(" "), "https://clock.meridian.test");
