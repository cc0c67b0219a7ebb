// The view Relevance: what a threshold keeps and lets in.

import { el, number, percent, replace, two } from "./dom.js";
import { ask, send } from "./server.js";

const BINS = 25;
let page, told, gate, slider, verdict, chosen, charts, table, source, progress, bars, curve, box;
let polling = 0;
let size = "";

function open(main, of) {
  page = of;
  told = null;
  slider = el("input", { type: "range", id: "threshold", min: 0, max: 1, step: 0.01, "aria-label": "Threshold", oninput: () => { gate = Number(slider.value); say(); } });
  verdict = el("p", { class: "verdicts", "aria-live": "polite" });
  source = el("select", { id: "source", onchange: () => { chosen = source.value; draw(true); } });
  progress = el("div", { class: "measuring" });
  charts = el("div", { class: "charts" });
  table = el("section", { class: "card wide" });
  box = el("section", { class: "card" }, el("div", { class: "tools" }, el("label", { for: "source" }, "Queries of"), source, progress), charts,
    el("div", { class: "threshold" }, slider), verdict);
  main.append(box, table);
  new ResizeObserver(() => { const now = `${charts.clientWidth}`; if (now !== size && told) { size = now; draw(true); } }).observe(charts);
}
addEventListener("theme", () => { if (told && charts?.isConnected) draw(true); });

async function show() {
  clearTimeout(polling);
  const space = page.space.name;
  const now = await ask("relevance", { space });
  if (page.view !== "relevance" || page.space.name !== space) return;
  if (told?.space !== space) { gate = now.min_relevance; slider.value = gate; chosen = ""; }
  told = now;
  const options = [["", `this index: titles of sections, everyday questions`], ...told.evaluations.map((one) => [`${one.collection} ${one.mode}`, `${one.collection}, ${one.mode}`])];
  if (!chosen && !told.measured && told.evaluations.length) chosen = options[1][0];
  replace(source, options.map(([value, name]) => el("option", { value }, name)));
  source.value = chosen;
  const run = told.measured;
  const busy = run && !run.failed && run.done < run.total;
  replace(progress, !run || run.failed
    ? el("button", { class: "button", type: "button", onclick: measure }, "Measure this index")
    : busy ? [el("progress", { max: run.total, value: run.done, "aria-label": "Measuring" }), el("span", { class: "soft" }, `${run.done} of ${run.total} queries`)] : el("span", { class: "soft" }, `${number(run.total)} queries`),
  run?.failed && el("span", { class: "noted" }, run.failed));
  draw(true);
  tabulate();
  if (busy) polling = setTimeout(() => page.view === "relevance" && show(), 700);
}

async function measure() {
  chosen = "";
  await send("measure", { space: page.space.name });
  await show();
}

function samples() {
  if (!chosen) return told.measured ? { answerable: told.measured.answerable, off: told.measured.off_topic } : null;
  const one = told.evaluations.find((each) => `${each.collection} ${each.mode}` === chosen);
  return one && { answerable: one.answerable, off: one.off_topic };
}

const histogram = (values) => {
  const bins = new Array(BINS).fill(0);
  for (const value of values) bins[Math.min(BINS - 1, Math.floor(value * BINS))] += 1;
  return bins.map((count) => (values.length ? (100 * count) / values.length : 0));
};
const reach = (values, least) => (values.length ? values.filter((value) => value >= least).length / values.length : 0);

function draw() {
  const found = samples();
  bars?.destroy();
  curve?.destroy();
  bars = curve = null;
  if (!found || !(found.off.length + found.answerable.length)) {
    replace(charts, el("div", { class: "empty" }, el("p", { class: "big" }, "Where should the gate be?"), el("p", {}, "Measure this index: titles of its sections are asked as queries that it answers, and everyday questions as queries that it does not. It takes a few seconds. ", el("code", {}, "ragloom eval"), " adds judged collections.")));
    slider.parentElement.hidden = true;
    return replace(verdict);
  }
  slider.parentElement.hidden = false;
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const width = Math.max(240, charts.clientWidth > 900 ? (charts.clientWidth - 24) / 2 : charts.clientWidth);
  const axis = (more) => ({ stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui", ...more });
  const limit = { hooks: { draw: (plot) => {
    const x = plot.valToPos(gate, "x", true), pen = plot.ctx;
    pen.save();
    pen.strokeStyle = colour("gold");
    pen.lineWidth = 2 * devicePixelRatio;
    pen.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    pen.beginPath();
    pen.moveTo(x, plot.bbox.top);
    pen.lineTo(x, plot.bbox.top + plot.bbox.height);
    pen.stroke();
    pen.restore();
  } } };
  const common = { width, height: 260, legend: { show: false }, cursor: { show: false }, plugins: [limit] };
  const share = (plot, values) => values.map((value) => `${value} %`);
  const centres = Array.from({ length: BINS }, (_, at) => (at + 0.5) / BINS);
  const bar = (name, offset) => ({ stroke: colour(name), width: 1, fill: `${colour(name)}66`, paths: uPlot.paths.bars({ size: [0.9, 60], align: offset }), points: { show: false } });
  const first = el("figure", {}, el("figcaption", {}, "How relevant the best passage is: ", key("teal", `${number(found.answerable.length)} answerable`), key("rose", `${number(found.off.length)} off-topic`)));
  const second = el("figure", {}, el("figcaption", {}, "What a threshold does: ", key("teal", "keeps"), key("rose", "lets in")));
  replace(charts, first, second);
  bars = new uPlot({ ...common, scales: { x: { time: false, range: [0, 1] }, y: { range: (_, low, high) => [0, Math.max(5, high * 1.1)] } }, axes: [axis({}), axis({ values: share, size: 52 })], series: [{}, bar("teal", 0), bar("rose", 0)] }, [centres, histogram(found.answerable), histogram(found.off)], first);
  const steps = Array.from({ length: 101 }, (_, at) => at / 100);
  const line = (name) => ({ stroke: colour(name), width: 2.5, fill: `${colour(name)}1c`, points: { show: false } });
  curve = new uPlot({ ...common, scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 102] } }, axes: [axis({}), axis({ values: share, size: 52 })], series: [{}, line("teal"), line("rose")] }, [steps, steps.map((at) => 100 * reach(found.answerable, at)), steps.map((at) => 100 * reach(found.off, at))], second);
  for (const plot of [bars, curve]) plot.root.setAttribute("aria-hidden", "true"); // said below in words
  say();
}

const key = (name, text) => el("span", { class: "key" }, el("i", { class: name, "aria-hidden": "true" }), text);

function say() {
  const found = samples();
  if (!found) return;
  bars?.redraw(false);
  curve?.redraw(false);
  const kept = reach(found.answerable, gate), let_in = reach(found.off, gate);
  replace(verdict, "A gate of ", el("b", {}, gate.toFixed(2)), " keeps ", el("b", { class: "good" }, percent(kept)), ` of ${number(found.answerable.length)} answerable queries, and lets in `, el("b", { class: "bad" }, percent(let_in)), ` (${Math.round(let_in * found.off.length)}) of ${number(found.off.length)} off-topic ones.`,
    gate !== told.min_relevance && ` The setting is ${told.min_relevance.toFixed(2)}.`);
}

function tabulate() {
  if (!told.evaluations.length) return replace(table, el("h2", {}, "Evaluations"), el("p", { class: "soft" }, "None is kept yet. ", el("code", {}, "ragloom eval FOLDER --against dense --against lexical"), " evaluates a judged collection, and this page shows its runs side by side."));
  const columns = Object.keys(told.evaluations[0].metrics);
  const best = {};
  for (const one of told.evaluations) for (const name of columns) best[`${one.collection} ${name}`] = Math.max(best[`${one.collection} ${name}`] ?? 0, one.metrics[name]);
  replace(table, el("h2", {}, "Evaluations"), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Evaluations" }, el("table", {},
    el("thead", {}, el("tr", {}, ["collection", "mode", ...columns, "keeps", "lets in", "when"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, told.evaluations.map((one) => el("tr", {}, el("th", { scope: "row" }, one.collection), el("td", {}, one.mode),
      columns.map((name) => el("td", { class: one.metrics[name] === best[`${one.collection} ${name}`] ? "best" : "" }, one.metrics[name].toFixed(3))),
      el("td", {}, one.gate.answerable ? percent(one.gate.kept / one.gate.answerable) : "–"), el("td", {}, one.gate.off_topic ? percent(one.gate.injected / one.gate.off_topic) : "–"), el("td", { class: "soft" }, one.time.slice(0, 10))))))),
  told.comparisons.length > 0 && el("ul", { class: "compared" }, told.comparisons.map((one) => el("li", {}, el("b", {}, one.first), ` over ${one.second} on ${one.collection}: `, `${one.difference >= 0 ? "+" : ""}${two(one.difference)} nDCG@10, `, el("span", { class: one.p_value < 0.05 ? "good" : "soft" }, `p = ${one.p_value.toFixed(4)}`)))));
}

export default { open, show };
