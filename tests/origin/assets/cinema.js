// Behaviour of the cinema guide: consent, search, screenings by day, and a page for when the network is gone.
"use strict";
const page = document.body.dataset.page;

function consent() {
  const banner = document.getElementById("consent");
  const choose = async (choice) => {
    banner.hidden = true;
    await fetch("/consent", { method: "POST", body: new URLSearchParams({ choice }) });
  };
  banner.addEventListener("click", (event) => {
    if (event.target.value) choose(event.target.value);
  });
  const asked = new URLSearchParams(location.search).get("consent");
  if (asked) choose(asked);
  else banner.hidden = document.cookie.split("; ").some((one) => one.startsWith("consent="));
}

async function film() {
  const tabs = document.querySelector(".tabs");
  const answer = await fetch(`/api/films/${tabs.dataset.film}/screenings`);
  const screenings = await answer.json();
  const show = (day) => {
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.value === day));
    const body = document.querySelector("#screenings tbody");
    body.replaceChildren();
    for (const one of screenings.filter((one) => one.day === day)) {
      const row = body.insertRow();
      row.insertCell().textContent = one.time;
      const cinema = Object.assign(document.createElement("a"), { href: `/cinemas/${one.cinema}?day=${day}`, textContent: one.name });
      row.insertCell().append(cinema);
      row.insertCell().textContent = one.city;
      row.insertCell().textContent = `£${one.price}`;
      row.insertCell().textContent = one.note;
    }
    if (!body.rows.length) body.insertRow().insertCell().textContent = "No screening on this day";
  };
  tabs.addEventListener("click", (event) => {
    if (event.target.value) show(event.target.value);
  });
  show(tabs.firstElementChild.value);
}

async function search() {
  const q = new URLSearchParams(location.search).get("q") ?? "";
  document.querySelector("input[name=q]").value = q;
  const answer = await fetch("/api/search", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ q: q.trim().toLowerCase() }),
  });
  const films = await answer.json();
  for (const one of films) {
    const item = document.createElement("li");
    const heading = document.createElement("h2");
    heading.append(Object.assign(document.createElement("a"), { href: `/films/${one.slug}`, textContent: one.title }));
    item.append(heading, Object.assign(document.createElement("p"), { textContent: `${one.genre} by ${one.director}` }));
    document.getElementById("results").append(item);
  }
  document.getElementById("state").textContent = films.length === 1 ? `1 film for “${q}”` : `${films.length} films for “${q}”`;
}

consent();
({ film, search })[page]?.();
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js");
