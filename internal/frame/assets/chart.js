// A chart of a table whose rows are days, the newest first. The table stays; screen readers
// have it alone. The line to a day that is not over is dashed.
import uPlot from "./uplot.js";
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--color-${name}`).trim();
const draw = (place) => {
  const rows = [...document.getElementById(place.dataset.chart).querySelectorAll("tbody tr")]
    .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))
    .filter(([day]) => /^\d{4}-\d\d-\d\d/.test(day)).reverse();
  const last = rows.length - 1;
  if (last < 1) return;
  const open = rows[last][0].length > 10;
  const data = [rows.map(([day]) => Date.parse(day.slice(0, 10)) / 1000)], series = [{}];
  const text = { stroke: () => color("base-content"), font: "12px Inter", grid: { stroke: () => color("base-300"), width: 1 }, ticks: { show: false } };
  place.dataset.colors.split(" ").forEach((name, i) => {
    const values = rows.map((cells) => Number(cells[i + 1].replace(/[^\d.-]/g, "")));
    const line = { stroke: () => color(name), width: 2, points: { show: i > 0, size: 5 } };
    data.push(open ? [...values.slice(0, -1), null] : values, values.map((v, at) => (open && at >= last - 1 ? v : null)));
    series.push(line, { ...line, dash: [5, 5] });
  });
  const size = () => ({ width: place.clientWidth, height: 220 });
  const plot = new uPlot({
    ...size(), series, legend: { show: false }, cursor: { show: false },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    scales: { y: { range: (_, min, max) => [0, 1.1 * (max || 1)] } },
    axes: [
      { ...text, size: 34, incrs: [1, 2, 7, 14, 30, 60, 90, 180].map((days) => days * 86400), values: (_, all) => all.map((at) => new Date(at * 1000).toISOString().slice(5, 10)) },
      { ...text, size: 64, values: (_, all) => all.map((n) => n.toLocaleString("en-GB")) },
    ],
  }, data, place);
  new ResizeObserver(() => plot.setSize(size())).observe(place);
  new MutationObserver(() => plot.redraw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw());
};
for (const place of document.querySelectorAll("[data-chart]")) {
  place.parentElement.hidden = false;
  draw(place);
}
