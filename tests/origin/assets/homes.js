// Behaviour of the property market: results that load as one scrolls, viewings, the forecast of a guide.
"use strict";
const page = document.body.dataset.page;
const state = document.getElementById("state");
const asked = new URLSearchParams(location.search);
const make = (tag, fields) => Object.assign(document.createElement(tag), fields);
const money = (pounds) => `£${pounds.toLocaleString("en-GB")}`;

const QUERY = `query Homes($city: String!, $rooms: Int!, $sort: Sort!, $first: Int!, $after: String) {
  homes(city: $city, rooms: $rooms, sort: $sort, first: $first, after: $after) {
    totalCount edges { node { id address kind price area rooms extras } } pageInfo { endCursor hasNextPage }
  }
}`;

function results() {
  const city = asked.get("city") ?? "aldport";
  const rooms = Number(asked.get("rooms") ?? 1);
  const sort = asked.get("sort") ?? "newest";
  for (const [name, value] of Object.entries({ city, rooms, sort })) document.querySelector(`select[name=${name}]`).value = value;
  const list = document.getElementById("results");
  let after = null;
  let busy = false;
  const load = async () => {
    busy = true;
    const answer = await fetch("/graphql", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ operationName: "Homes", variables: { city, rooms, sort, first: 6, after }, query: QUERY }),
    });
    const { data, errors } = await answer.json();
    if (errors) {
      state.textContent = errors[0].message;
      return;
    }
    for (const { node } of data.homes.edges) {
      const item = make("li", {});
      const text = make("div", {});
      const heading = make("h2", {});
      heading.append(make("a", { href: `/homes/${node.id}`, textContent: node.address }));
      text.append(heading, make("p", { textContent: `${node.kind}, ${node.rooms === 1 ? "1 room" : `${node.rooms} rooms`}, ${node.area} m²` }), make("p", { textContent: node.extras.join(", ") }));
      item.append(make("img", { loading: "lazy", alt: "", width: 240, height: 150, src: `https://cdn.staticmile.test/photos/${node.id}.svg` }), text, make("p", { className: "price", textContent: money(node.price) }));
      list.append(item);
    }
    const name = document.querySelector("select[name=city]").selectedOptions[0].textContent;
    document.getElementById("heading").textContent = `Homes in ${name}`;
    document.title = `Homes in ${name} · Hearthside`;
    state.textContent = `${list.children.length} of ${data.homes.totalCount} homes shown`;
    after = data.homes.pageInfo.hasNextPage ? data.homes.pageInfo.endCursor : null;
    busy = false;
    watcher.disconnect();
    if (after) watcher.observe(document.getElementById("more"));
  };
  const watcher = new IntersectionObserver((seen) => {
    if (!busy && seen.some((one) => one.isIntersecting)) load();
  });
  load();
}

function listing() {
  const form = document.getElementById("viewing");
  for (const field of form.elements) {
    const value = asked.get(field.name);
    if (value === null || field.type === "hidden") continue;
    if (field.type === "checkbox") field.checked = value === field.value;
    else field.value = value;
  }
  if (asked.has("book")) form.requestSubmit();
}

async function guide() {
  const table = document.getElementById("weather");
  const url = `https://api.weatherfold.test/v1/forecast?city=${table.dataset.city}&_=${Date.now()}`;
  const answer = await fetch(url, { headers: { "X-Api-Key": "hearthside" } });
  const forecast = await answer.json();
  for (const day of forecast.days) {
    const row = table.tBodies[0].insertRow();
    const date = new Date(`${day.date}T12:00:00Z`);
    row.insertCell().textContent = date.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
    row.insertCell().textContent = day.sky;
    for (const text of [`${day.high} °C`, `${day.rain} %`]) {
      const cell = row.insertCell();
      cell.className = "number";
      cell.textContent = text;
    }
  }
  state.textContent = "Forecast by Weatherfold";
}

({ results, listing, guide })[page]?.();
