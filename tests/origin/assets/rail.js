// Behaviour of the railway's pages: live boards, journeys, seats, quotes.
"use strict";
const page = document.body.dataset.page;
const state = document.getElementById("state");
const cell = (row, content, className) => {
  const td = row.insertCell();
  if (className) td.className = className;
  td.append(content);
  return td;
};
const link = (href, text) => Object.assign(document.createElement("a"), { href, textContent: text });
const asked = new URLSearchParams(location.search);

function live() {
  const table = document.querySelector("table.board");
  const rows = new Map();
  const socket = new WebSocket(`wss://live.aldria-rail.test/board/${table.dataset.station}`);
  const show = {
    board(message) {
      for (const one of message.rows) {
        const row = table.tBodies[0].insertRow();
        cell(row, one.time);
        cell(row, link(`/trains/${one.slug}`, one.train));
        cell(row, one.to);
        cell(row, "–");
        cell(row, "Expected");
        rows.set(one.train, row);
      }
      state.textContent = "Waiting for the signal boxes";
    },
    update(message) {
      const row = rows.get(message.train);
      row.cells[3].textContent = message.platform;
      row.cells[4].textContent = message.status;
      row.classList.toggle("off", message.status === "Cancelled");
    },
    settled(message) {
      state.textContent = `All ${message.count} departures confirmed`;
    },
  };
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    show[message.kind](message);
  };
  socket.onerror = () => { state.textContent = "The board is out of order"; };
}

async function journeys() {
  const body = JSON.stringify({ from: asked.get("from"), to: asked.get("to"), date: "2026-03-12" });
  const answer = await fetch("/api/journeys", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const found = await answer.json();
  if (!answer.ok) {
    state.textContent = found.error;
    return;
  }
  document.getElementById("heading").textContent = `${found.from} to ${found.to}`;
  document.title = `${found.from} to ${found.to} · Aldria Rail`;
  const direct = document.getElementById("direct");
  const draw = () => {
    const shown = found.journeys.filter((one) => !direct.checked || one.legs.length === 1);
    const body = document.querySelector("#journeys tbody");
    body.replaceChildren();
    for (const one of shown) {
      const row = body.insertRow();
      cell(row, one.depart);
      cell(row, one.arrive);
      cell(row, one.duration);
      cell(row, one.legs.length === 1 ? "direct" : `change at ${one.legs[0].to}`);
      const trains = cell(row, "");
      one.legs.forEach((leg, nth) => trains.append(nth ? ", " : "", link(`/trains/${leg.slug}`, leg.train)));
    }
    state.textContent = `${shown.length} connections on Thursday 12 March 2026`;
  };
  direct.addEventListener("change", draw);
  draw();
}

function train() {
  const table = document.getElementById("seats");
  const source = new EventSource(table.dataset.source);
  source.addEventListener("coach", (event) => {
    const coach = JSON.parse(event.data);
    const row = table.tBodies[0].insertRow();
    cell(row, coach.letter);
    cell(row, coach.kind);
    cell(row, coach.seats, "number");
    cell(row, coach.free, "number");
  });
  source.addEventListener("done", () => {
    state.textContent = "Free seats as of now";
    source.close();
  });
}

async function quote() {
  const wanted = new URLSearchParams();
  for (const name of ["from", "to", "class", "ticket", "railcard"]) wanted.set(name, asked.get(name) ?? "");
  const answer = await fetch(`/api/fare?${wanted}`);
  const fare = await answer.json();
  setTimeout(() => {
    if (!answer.ok) {
      state.textContent = fare.error;
      return;
    }
    const list = document.getElementById("quote");
    for (const [term, text] of fare.lines) {
      list.append(
        Object.assign(document.createElement("dt"), { textContent: term }),
        Object.assign(document.createElement("dd"), { textContent: text }),
      );
    }
    list.hidden = false;
    state.textContent = "Your quote is ready";
  }, 3000);
}

const behaviour = { live, journeys, train, quote };
behaviour[page]?.();
