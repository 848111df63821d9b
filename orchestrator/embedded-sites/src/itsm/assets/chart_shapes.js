// Drawings of charts. The same numbers give the same drawing: no sizes are measured, nothing moves.
//
// A chart is { title, shape, series: [{ name, points: [{ name, y, percent }] }] }; all series have
// the same names. Texts of the drawing are for the eye; what is read aloud are the points.

const WIDTH = 640;
const LETTER = 8; // of a text, on the average
const LINE = 15;
const COLOURS = ["#1f5f8b", "#a8481a", "#2e7044", "#6f3d8f", "#9b2743", "#4f5d66", "#7a6200",
  "#0b6f74", "#5a4bb0", "#8a4b2d", "#3d6b12", "#a0338a"];

function colour(index) {
  return COLOURS[index % COLOURS.length];
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// One digit after the point.
function short(number) {
  return String(Math.round(number * 10) / 10);
}

function percentText(point) {
  return (point.percent === null ? 0 : point.percent).toFixed(2) + "%";
}

function pointName(point) {
  return point.name + ", " + point.y + " (" + percentText(point) + ")";
}

// Its title is what is read aloud, and what shows below the pointer.
function pointOf(name, attributes, point) {
  return svg(name, { class: "highcharts-point", role: "img", ...attributes }, svg("title", {}, pointName(point)));
}

function words(x, y, anchor, text, more) {
  return svg("text", { x: short(x), y: short(y), "text-anchor": anchor, "aria-hidden": "true", ...more }, text);
}

// A text in lines of at most this many letters; what is left of it at the end is cut.
function wrapped(text, letters, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= letters) lines[lines.length - 1] = last + " " + word;
    else lines.push(word);
  }
  const kept = lines.slice(0, most);
  if (lines.length > most) kept[most - 1] += " …";
  return kept.map((line) => (line.length > letters + 2 ? line.slice(0, letters) + "…" : line));
}

function greatest(chart) {
  return Math.max(1, ...chart.series.flatMap((one) => one.points.map((point) => point.y)));
}

// The numbers of an axis from 0: at most six, in steps of 1, 2 or 5 times a power of ten.
function ticks(most) {
  let step = 1;
  while (most / step > 5) {
    const lead = String(step)[0];
    step = lead === "2" ? step * 2.5 : step * 2;
  }
  const found = [];
  for (let at = 0; at < most + step; at += step) found.push(at);
  return found;
}

// The names of series, if there are several.
function legend(chart) {
  const group = svg("g", { "aria-hidden": "true" });
  if (chart.series.length < 2) return { group, height: 0 };
  let [x, y] = [10, 16];
  chart.series.forEach((one, index) => {
    const width = one.name.length * LETTER + 36;
    if (x + width > WIDTH && x > 10) [x, y] = [10, y + 20];
    group.append(svg("rect", { x, y: y - 10, width: 12, height: 12, fill: colour(index) }),
      words(x + 18, y, "start", one.name));
    x += width;
  });
  return { group, height: y + 14 };
}

// The series of a chart, each with its name if there are several.
function groups(chart) {
  return chart.series.map((one) => svg("g", chart.series.length < 2 ? {} : { role: "group", "aria-label": one.name }));
}

// Of several series the value names its own, because colours come again after the twelfth.
function barText(chart, one, point) {
  return (chart.series.length > 1 ? one.name + ": " : "") + point.y + " (" + percentText(point) + ")";
}

function drawBars(chart) {
  const names = chart.series[0].points.map((point) => wrapped(point.name, 28, 3));
  const letters = Math.max(...names.flat().map((line) => line.length));
  const left = Math.min(230, letters * LETTER + 16);
  const values = chart.series.flatMap((one) => one.points.map((point) => barText(chart, one, point)));
  const right = Math.max(...values.map((value) => value.length)) * LETTER + 16;
  const most = ticks(greatest(chart)).pop();
  const { group, height: top } = legend(chart);
  const drawn = groups(chart);
  const thick = 18;
  let y = top + 6;
  const texts = svg("g", {});
  names.forEach((lines, at) => {
    const height = Math.max(lines.length * LINE, chart.series.length * thick) + 10;
    lines.forEach((line, index) =>
      texts.append(words(left - 8, y + (height - lines.length * LINE) / 2 + index * LINE + 12, "end", line)));
    chart.series.forEach((one, index) => {
      const point = one.points[at];
      const length = Math.max(1, ((WIDTH - left - right) * point.y) / most);
      const begin = y + (height - chart.series.length * thick) / 2 + index * thick;
      drawn[index].append(pointOf("rect", { x: short(left), y: short(begin + 2), width: short(length),
        height: thick - 4, fill: colour(index) }, point));
      texts.append(words(left + length + 6, begin + 13, "start", barText(chart, one, point)));
    });
    y += height;
  });
  const axis = svg("line", { x1: short(left), y1: top, x2: short(left), y2: short(y + 4), class: "axis" });
  return { width: WIDTH, height: y + 12, parts: [group, axis, ...drawn, texts] };
}

// The axes of charts that stand upright: where names and values are.
function upright(chart) {
  const { group, height: top } = legend(chart);
  const points = chart.series[0].points;
  const count = chart.series.length;
  const narrowest = chart.shape === "column" ? Math.max(52, count * 46 + 10) : count > 1 ? 100 : 56;
  const left = 46;
  const slot = Math.max(narrowest, (WIDTH - left - 10) / points.length);
  const names = points.map((point) => wrapped(point.name, Math.max(8, Math.floor(slot / LETTER)), 4));
  const above = top + 40;
  const below = above + 220;
  const scale = ticks(greatest(chart));
  const most = scale[scale.length - 1];
  const place = { slot, x: (at) => left + slot * (at + 0.5), y: (value) => below - (220 * value) / most, below };
  const width = left + slot * points.length + 10;
  const grid = svg("g", { "aria-hidden": "true" });
  for (const value of scale) {
    grid.append(svg("line", { x1: left, x2: short(width - 10), y1: short(place.y(value)), y2: short(place.y(value)),
      class: value === 0 ? "axis" : "grid" }), words(left - 6, place.y(value) + 4, "end", String(value)));
  }
  names.forEach((lines, at) => lines.forEach((line, index) =>
    grid.append(words(place.x(at), below + 18 + index * LINE, "middle", line))));
  const height = below + 20 + Math.max(...names.map((lines) => lines.length)) * LINE;
  return { place, width, height, parts: [group, grid] };
}

// The value over a point, with its part of the whole.
function valueOf(point, x, y) {
  return svg("g", {}, words(x, y - 19, "middle", String(point.y), { class: "value" }),
    words(x, y - 6, "middle", percentText(point), { class: "part" }));
}

// Columns that would not fit beside each other lie: all of them are seen without moving sideways.
function drawColumns(chart) {
  const { place, width, height, parts } = upright(chart);
  if (width > WIDTH + 1) return drawBars(chart);
  const drawn = groups(chart);
  const texts = svg("g", {});
  const count = chart.series.length;
  const wide = Math.min(64, (place.slot - 8) / count);
  chart.series.forEach((one, index) => one.points.forEach((point, at) => {
    const x = place.x(at) + (index - count / 2) * wide;
    const y = Math.min(place.y(point.y), place.below - 1);
    drawn[index].append(pointOf("rect", { x: short(x + 2), y: short(y), width: short(wide - 4),
      height: short(place.below - y), fill: colour(index) }, point));
    texts.append(valueOf(point, x + wide / 2, y));
  }));
  return { width, height, parts: [...parts, ...drawn, texts] };
}

function pathOf(points, isCurved) {
  return points.map(([x, y], index) => {
    if (index === 0) return "M" + short(x) + " " + short(y);
    if (!isCurved) return "L" + short(x) + " " + short(y);
    const [before, height] = points[index - 1];
    const middle = short((before + x) / 2);
    return "C" + [middle, short(height), middle, short(y), short(x), short(y)].join(" ");
  }).join("");
}

// Values of several lines would cover each other: they stand in rows below the names.
function drawLines(chart) {
  const { place, width, height, parts } = upright(chart);
  const rows = chart.series.length > 1 ? chart.series.length : 0;
  const drawn = groups(chart);
  const texts = svg("g", {});
  chart.series.forEach((one, index) => {
    const at = one.points.map((point, number) => [place.x(number), place.y(point.y)]);
    const path = pathOf(at, chart.shape === "spline");
    if (chart.shape === "area") {
      const end = "L" + short(at[at.length - 1][0]) + " " + place.below + "L" + short(at[0][0]) + " " + place.below + "Z";
      drawn[index].append(svg("path", { d: path + end, fill: colour(index), "fill-opacity": "0.2" }));
    }
    drawn[index].append(svg("path", { d: path, fill: "none", stroke: colour(index), "stroke-width": 2 }));
    one.points.forEach((point, number) => {
      const [x, y] = at[number];
      drawn[index].append(pointOf("circle", { cx: short(x), cy: short(y), r: 5, fill: colour(index) }, point));
      const row = height + 12 + index * LINE;
      texts.append(rows ? words(x, row, "middle", point.y + " (" + percentText(point) + ")") : valueOf(point, x, y));
    });
    if (rows) {
      const y = height + 2 + index * LINE;
      texts.append(svg("rect", { x: 14, y, width: 12, height: 12, fill: colour(index) }));
    }
  });
  return { width, height: height + rows * LINE + 6, parts: [...parts, ...drawn, texts] };
}

function drawPie(chart) {
  const points = chart.series[0].points;
  const total = points.reduce((sum, point) => sum + point.y, 0);
  const [x, y, radius] = [130, 130, 115];
  const [slices, rows] = [svg("g", {}), svg("g", { "aria-hidden": "true" })];
  const edge = (part) => [short(x + radius * Math.sin(2 * Math.PI * part)), short(y - radius * Math.cos(2 * Math.PI * part))];
  let before = 0;
  let row = 20;
  points.forEach((point, index) => {
    const after = before + point.y;
    const look = { fill: colour(index), stroke: "#fff", "stroke-width": 1.5 };
    if (point.y === total && total > 0) {
      slices.append(pointOf("circle", { cx: x, cy: y, r: radius, ...look }, point));
    } else {
      const large = point.y * 2 > total ? 1 : 0;
      const [from, to] = [edge(before / (total || 1)), edge(after / (total || 1))];
      slices.append(pointOf("path", { d: "M" + x + " " + y + "L" + from.join(" ") +
        "A" + [radius, radius, 0, large, 1, ...to].join(" ") + "Z", ...look }, point));
    }
    before = after;
    const value = point.y + " (" + percentText(point) + ")";
    const lines = wrapped(point.name, 30, 3);
    rows.append(svg("rect", { x: 280, y: row - 11, width: 12, height: 12, fill: colour(index) }));
    lines.forEach((line, number) => rows.append(words(300, row + number * LINE, "start", line)));
    rows.append(words(WIDTH - 8, row, "end", value, { class: "value" }));
    row += lines.length * LINE + 7;
  });
  return { width: WIDTH, height: Math.max(2 * y, row), parts: [slices, rows] };
}

// The drawing of a chart with at least one point.
function drawing(chart) {
  const draw = { bar: drawBars, column: drawColumns, pie: drawPie }[chart.shape] || drawLines;
  const { width, height, parts } = draw(chart);
  const [w, h] = [short(width), short(height)];
  const made = svg("svg", { viewBox: "0 0 " + w + " " + h, role: "group", "aria-label": chart.title,
    class: width > WIDTH + 1 ? "wide" : "fits" }, ...parts);
  made.style.width = w + "px";
  return made;
}
