// Shows what the page's data say: marks of found places or the line of a route.
"use strict";
const world = JSON.parse(document.getElementById("world").textContent);
L.Icon.Default.imagePath = "/static/leaflet/images/";
const map = L.map("map", { zoomAnimation: false, fadeAnimation: false, maxBounds: [[54.5, 0.75], [54.75, 1.15]] }).setView(world.centre, 14);
L.tileLayer("/tile/{z}/{x}/{y}.png", { minZoom: 11, maxZoom: 19, attribution: "Port Ellery surveyors" }).addTo(map);
map.attributionControl.setPrefix("Leaflet");
L.control.scale().addTo(map);
if (world.results && world.results.length) {
  const marks = world.results.map((at) => L.marker(at).addTo(map));
  if (marks.length === 1) map.setView(world.results[0], 17);
  else map.fitBounds(L.featureGroup(marks).getBounds().pad(0.1));
}
if (world.line) {
  const line = L.polyline(world.line, { color: "#03f", weight: 8, opacity: 0.4 }).addTo(map);
  L.marker(world.line[0]).addTo(map);
  L.marker(world.line[world.line.length - 1]).addTo(map);
  map.fitBounds(line.getBounds().pad(0.1));
}
document.querySelector(".reverse_directions").addEventListener("click", () => {
  const [from, to] = [document.getElementById("route_from"), document.getElementById("route_to")];
  [from.value, to.value] = [to.value, from.value];
  if (from.value && to.value) from.form.submit();
});
document.querySelector(".routing_engines").addEventListener("change", (event) => {
  const form = event.target.form;
  if (form.route_from.value && form.route_to.value) form.submit();
});
