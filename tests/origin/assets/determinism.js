// Prints everything a page can learn about time and chance, from the document, workers, timers and a frame of another origin.
"use strict";
const list = document.getElementById("values");
const show = (name, value) => {
  list.append(
    Object.assign(document.createElement("dt"), { textContent: name }),
    Object.assign(document.createElement("dd"), { textContent: String(value) }),
  );
};
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

for (const [name, value] of Object.entries(early)) show(name, value);
show("Date", new Date().toString());
show("toISOString", new Date().toISOString());
show("toLocaleString", new Date().toLocaleString());
show("time zone", Intl.DateTimeFormat().resolvedOptions().timeZone);
show("languages", navigator.languages.join(" "));
show("screen", `${innerWidth} x ${innerHeight} at ${devicePixelRatio}`);
show("Math.random", [Math.random(), Math.random(), Math.random()].join(" "));
show("crypto.randomUUID", crypto.randomUUID());
show("crypto.getRandomValues", hex(crypto.getRandomValues(new Uint8Array(16))));
show("performance.now", performance.now());
show("performance.timeOrigin", performance.timeOrigin);

const timer = new Promise((done) => setTimeout(() => done(`${Date.now()} ${performance.now()}`), 250));
const frames = new Promise((done) => requestAnimationFrame((stamp) => done(stamp)));
const fromWorker = (worker) => new Promise((done) => { worker.onmessage = (event) => done(event.data); });
const worker = fromWorker(new Worker("/worker.js"));
const inline = "postMessage([Date.now(), Math.random(), crypto.randomUUID()].join(' '))";
const blob = fromWorker(new Worker(URL.createObjectURL(new Blob([inline], { type: "text/javascript" }))));
(async () => {
  show("timer of 250 ms", await timer);
  show("requestAnimationFrame", await frames);
  show("worker", await worker);
  show("blob worker", await blob);
  show("frame of another origin", await frameSaid);
  document.getElementById("state").textContent = "Measured";
})();
