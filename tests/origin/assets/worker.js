// The same questions from a worker.
"use strict";
const bytes = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const values = [Date.now(), Math.random(), crypto.randomUUID(), bytes, performance.now()];
setTimeout(() => postMessage([...values, Date.now()].join(" ")), 100);
