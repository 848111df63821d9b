// Keeps one page for when the network is gone; everything else goes to the network as always.
"use strict";
const shelf = "cityscreen-1";
self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(shelf).then((cache) => cache.add("/offline")));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(fetch(event.request).catch(() => caches.match("/offline")));
});
