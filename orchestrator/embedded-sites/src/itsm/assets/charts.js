// The charts of a dashboard or of a report, and the names by which the package reads them.

var Highcharts = { charts: [] };

// Percents have two digits after the point, in the drawing and in what is read.
function percentOf(y, total) {
  return y === 0 ? null : Math.round((10000 * y) / total) / 100;
}

function withPercents(chart) {
  const series = chart.series.map((one) => {
    const total = one.points.reduce((sum, [, y]) => sum + y, 0);
    return { name: one.name, points: one.points.map(([name, y]) => ({ name, y, percent: percentOf(y, total) })) };
  });
  return { title: chart.title, shape: chart.shape, series };
}

function hasPoints(chart) {
  return chart.series.length > 0 && chart.series[0].points.length > 0;
}

function dataTable(chart) {
  const several = chart.series.length > 1;
  const heads = chart.series.flatMap((one) => [several ? one.name + ": count" : "Count", several ? one.name + ": percent" : "Percent"]);
  const rows = chart.series[0].points.map((first, at) => element("tr", {},
    element("th", { scope: "row" }, first.name),
    ...chart.series.flatMap((one) => [String(one.points[at].y), percentText(one.points[at])]).map((text) => element("td", {}, text))));
  return element("table", { class: "data" },
    element("caption", {}, chart.title),
    element("thead", {}, element("tr", {}, ...["Label", ...heads].map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows));
}

function draw(box, chart) {
  if (!hasPoints(chart)) {
    box.append(element("p", { class: "no-data" }, "No data to display"));
    return;
  }
  const table = element("div", { class: "data-wrap", id: box.id + "-data", hidden: true }, dataTable(chart));
  const button = element("button", { type: "button", "aria-expanded": "false", "aria-controls": table.id }, "Show data table");
  button.addEventListener("click", () => {
    table.hidden = !table.hidden;
    button.setAttribute("aria-expanded", String(!table.hidden));
    button.textContent = table.hidden ? "Show data table" : "Hide data table";
  });
  const scroll = element("div", { class: "drawing" });
  scroll.append(drawing(chart));
  box.append(scroll, button, table);
}

// What the package reads of a chart.
function readable(box, chart) {
  const point = (one) => ({ category: one.name, name: one.name, origXValue: one.name, y: one.y, percent: one.percent });
  return {
    renderTo: box,
    title: chart.title,
    types: [chart.shape],
    hasLoaded: true,
    series: chart.series.map((one) => ({ name: one.name || "Count", data: one.points.map(point) })),
  };
}

document.addEventListener("DOMContentLoaded", () => {
  const panes = [];
  model("charts").map(withPercents).forEach((chart, index) => {
    const box = document.getElementById("chart-" + index);
    draw(box, chart);
    Highcharts.charts.push(readable(box, chart));
    panes.push({ uuid: box.id, isRendered: true });
  });
  if (document.querySelector(".panes")) {
    SNC.canvas = {
      layoutJson: { panes },
      canvasUtils: {
        getWidgetContainer: (uuid) => document.getElementById(uuid),
        // All are drawn with the page.
        renderSlowWidget: () => {},
      },
    };
  }
});
