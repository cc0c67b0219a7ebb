// The view Map: every chunk as a point, drawn into the pixels of a canvas.

import { el, number, pathNodes, percent, replace } from "./dom.js";
import { ask, binary } from "./server.js";

const COLOURS = {
  light: ["#0f766e", "#c2570c", "#4f46b8", "#b01e5b", "#5b7c12", "#0b6bb0", "#8a5a00", "#7c3aa8", "#2f6f44", "#a83232", "#8b95a3"],
  dark: ["#4fd1c5", "#fb9a55", "#a5a0ff", "#ff7ab0", "#b6d94c", "#6ec1ff", "#f2c14e", "#d9a2ff", "#7ddc9a", "#ff8a80", "#6b7686"],
};
const GROUPS = 10; // the last colour is that of all others
const [DUPLICATE, OUTLIER] = [1, 2];
let page, canvas, tip, panel, legend, chooser, note, chips, canvasBox;
let data = null; // of the space that is shown
let zoom = { scale: 1, x: 0, y: 0 };
let only = 0; // the mark that is looked at
let muted = -1; // the group that is looked at, or -1
let drag = null;
let waiting = false;
let hovered = -1;

function open(main, of) {
  page = of;
  data = null;
  canvas = el("canvas", { id: "map", tabindex: 0, role: "img", "aria-label": "Map of the chunks" });
  tip = el("div", { class: "tip", role: "presentation" });
  note = el("p", { class: "summary" });
  chooser = el("select", { id: "colour", onchange: () => { muted = -1; group(); draw(); } });
  legend = el("ul", { class: "legend" });
  chips = el("div", { class: "chips", role: "group", "aria-label": "Show only" });
  panel = el("aside", { class: "side", "aria-label": "Points" });
  canvasBox = el("div", { class: "canvas" }, canvas, tip, el("div", { class: "zoom" },
    el("button", { class: "icon", type: "button", "aria-label": "Zoom in", onclick: () => zoomBy(1.4) }, "+"),
    el("button", { class: "icon", type: "button", "aria-label": "Zoom out", onclick: () => zoomBy(1 / 1.4) }, "−"),
    el("button", { class: "icon", type: "button", "aria-label": "Show all", onclick: () => { zoom = { scale: 1, x: 0, y: 0 }; draw(); } }, "⤢")));
  main.append(note, el("div", { class: "columns" }, el("section", { "aria-label": "Map" },
    el("div", { class: "tools" }, el("label", { for: "colour" }, "Colour by"), chooser, chips), canvasBox, legend), panel));
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: 0 }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", moved);
  canvas.addEventListener("pointerup", (event) => { if (drag && drag.moved < 4) pick(event); drag = null; });
  canvas.addEventListener("pointerleave", () => { hovered = -1; tip.hidden = true; });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomBy(Math.exp(-event.deltaY / 400), event); }, { passive: false });
  new ResizeObserver(() => draw()).observe(canvas);
}
addEventListener("theme", () => { if (data && canvas?.isConnected) { group(); draw(); } });

async function show(given) {
  const space = page.space;
  if (data?.space !== space.name || data.generation !== space.generation) {
    replace(note, "drawing …");
    const turn = page.turn;
    const [held, drawn] = await Promise.all([ask("files", { space: space.name }), binary("map", { space: space.name })]);
    if (turn !== page.turn) return;
    const rows = drawn.bytes.byteLength / 12;
    data = {
      space: space.name, generation: space.generation, files: held.files, rows,
      explained: Number(drawn.headers.get("x-explained")),
      positions: new Float32Array(drawn.bytes, 0, rows * 2), file: new Int32Array(drawn.bytes, rows * 8, rows),
      marks: new Uint8Array(rows), colour: new Uint8Array(rows), hits: [],
    };
    zoom = { scale: 1, x: 0, y: 0 };
    fields();
    group();
    draw();
    binary("marks", { space: space.name }).then(({ bytes }) => {
      if (data?.space !== space.name) return;
      data.marks = new Uint8Array(bytes);
      chip();
      draw();
    }).catch((error) => page.say(error.message, "bad"));
  }
  chip();
  if (given.q && (page.result?.query !== given.q || page.result.space !== space.name)) page.result = await ask("search", { space: space.name, q: given.q });
  await light(given.q ? page.result : null);
}

/** The hits of the query at its gate: rings, and a list. */
async function light(result) {
  const gate = result?.gates.find((one) => one.min_relevance >= result.min_relevance);
  const hits = (gate?.hits || []).map((hit) => result.candidates[hit.candidate]).filter((one) => one.row !== null);
  data.hits = hits.map((one) => one.row);
  canvas.setAttribute("aria-label", `Map of ${number(data.rows)} chunks in ${number(data.files.length)} files; ${hits.length} hits of the query are lit up`);
  replace(note, el("span", {}, `${number(data.rows)} chunks`), el("span", {}, `two principal components, ${percent(data.explained)} of the variance`), result && el("span", {}, `${hits.length} hits of “${result.query}” lit up`));
  listed(result ? `Hits of “${result.query}”` : "Points", hits.length ? hits : null, result ? "no hit passes the gate" : "Ask, and the hits light up. Click a point to see its chunk.");
  draw();
}

function fields() {
  const found = {};
  for (const one of data.files) for (const key of Object.keys(one.metadata)) found[key] = (found[key] || 0) + 1;
  replace(chooser, el("option", { value: "folder" }, "folder"), el("option", { value: "file" }, "file"), Object.keys(found).sort((a, b) => found[b] - found[a]).slice(0, 12).map((key) => el("option", { value: `=${key}` }, key)));
}

/** Folders on the level on which they differ. */
function folders() {
  const parts = data.files.map((one) => one.path.split("/").slice(0, -1));
  let level = 0;
  while (parts.every((one) => one.length > level && one[level] === parts[0][level])) level += 1;
  return parts.map((one) => one.slice(0, level + 1).join("/") || ".");
}

function group() {
  const by = chooser.value;
  const names = by === "file" ? data.files.map((one) => one.path) : by.startsWith("=") ? data.files.map((one) => one.metadata[by.slice(1)]?.[0] ?? "(none)") : folders();
  const counts = new Map();
  data.files.forEach((one, at) => counts.set(names[at], (counts.get(names[at]) || 0) + one.chunks));
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  const place = new Map(ordered.map(([name], at) => [name, Math.min(at, GROUPS)]));
  const ofFile = names.map((name) => place.get(name));
  for (let row = 0; row < data.rows; row += 1) data.colour[row] = ofFile[data.file[row]] ?? GROUPS;
  const shown = ordered.slice(0, GROUPS).map(([name, count], at) => [name, count, at]);
  const rest = ordered.slice(GROUPS);
  if (rest.length) shown.push([`${number(rest.length)} others`, rest.reduce((sum, one) => sum + one[1], 0), GROUPS]);
  const palette = colours();
  replace(legend, shown.map(([name, count, at]) => el("li", {}, el("button", { type: "button", "aria-pressed": muted === at ? "true" : "false", onclick: () => { muted = muted === at ? -1 : at; group(); draw(); } },
    el("i", { vars: { dot: palette[at] }, "aria-hidden": "true" }), el("span", {}, name), el("span", { class: "soft" }, number(count))))));
}

const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const colours = () => COLOURS[dark() ? "dark" : "light"];
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function chip() {
  const counts = [[DUPLICATE, "duplicates"], [OUTLIER, "outliers"]].map(([bit, name]) => [bit, name, data.marks.reduce((sum, mark) => sum + (mark & bit ? 1 : 0), 0)]);
  replace(chips, counts.map(([bit, name, count]) => el("button", { class: "chip", type: "button", "aria-pressed": only === bit ? "true" : "false", disabled: count === 0, onclick: () => { only = only === bit ? 0 : bit; chip(); draw(); if (only) places(name, bit); else light(page.result); } }, `${name} ${number(count)}`)));
}

async function places(name, bit) {
  const rows = [];
  for (let row = 0; row < data.rows && rows.length < 30; row += 1) if (data.marks[row] & bit) rows.push(row);
  const told = await ask("places", { space: data.space, row: rows });
  listed(name[0].toUpperCase() + name.slice(1), told.places, "none");
}

function listed(title, found, nothing) {
  replace(panel, el("section", { class: "card" }, el("h2", {}, title), found
    ? el("ol", { class: "near" }, found.map((one) => el("li", {}, page.link({ view: "document", path: one.path, line: one.start_line }, pathNodes(one.path), `:${one.start_line}`), el("p", { class: "soft" }, one.begins || one.headings.join(" › ")))))
    : el("p", { class: "soft" }, nothing)));
}

function draw() {
  if (waiting || !data) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paint(); });
}

function view() {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const unit = (Math.min(width, height) / 2) * 0.94 * zoom.scale;
  const wide = Math.max(1, (width / height) * 0.9); // a wide canvas is used
  return { ratio, width, height, sx: unit * Math.min(wide, 1.6), sy: unit, ox: width / 2 + zoom.x * ratio, oy: height / 2 + zoom.y * ratio };
}

/** The pixels of a disc with soft edges: how far each is from the middle one, and its share of 256. */
function disc(radius, width, full) {
  const reach = Math.ceil(radius), steps = [], shares = [];
  for (let y = -reach; y <= reach; y += 1) for (let x = -reach; x <= reach; x += 1) {
    const share = Math.round(256 * full * Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(x, y))));
    if (share > 0) {
      steps.push(y * width + x);
      shares.push(share);
    }
  }
  return { reach, steps: Int32Array.from(steps), shares: Int32Array.from(shares) };
}

function paint() {
  const started = performance.now();
  const { ratio, width, height, sx, sy, ox, oy } = view();
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(width, height), pixels = new Uint32Array(image.data.buffer); // little-endian
  const palette = colours().map(rgb);
  const many = data.rows > 5000;
  const least = Math.max(1.1, Math.min(4.5, 70 / Math.sqrt(data.rows)));
  const radius = Math.max(least, Math.min(8, least * Math.sqrt(zoom.scale))) * ratio;
  const full = many ? 0.62 : 0.8;
  const { positions, colour, marks } = data;
  const style = getComputedStyle(document.documentElement);
  const [br, bg, bb] = rgb(style.getPropertyValue("--card").trim());
  pixels.fill((0xff000000 | bb << 16 | bg << 8 | br) >>> 0);
  const dimmed = only || muted >= 0;
  for (const lit of dimmed ? [false, true] : [true]) { // what is looked at lies above all others
    const { reach, steps, shares } = disc(radius, width, lit ? full : 0.09), count = steps.length;
    for (let row = 0; row < data.rows; row += 1) {
      if (dimmed && lit !== Boolean((!only || marks[row] & only) && (muted < 0 || colour[row] === muted))) continue;
      const x = (ox + positions[2 * row] * sx + 0.5) | 0, y = (oy - positions[2 * row + 1] * sy + 0.5) | 0;
      if (x < reach || y < reach || x + reach >= width || y + reach >= height) continue;
      const [r, g, b] = palette[colour[row]], at = y * width + x;
      for (let n = 0; n < count; n += 1) {
        const place = at + steps[n], share = shares[n], under = pixels[place];
        const ur = under & 255, ug = under >> 8 & 255, ub = under >> 16 & 255;
        pixels[place] = 0xff000000 | ub + ((b - ub) * share >> 8) << 16 | ug + ((g - ug) * share >> 8) << 8 | ur + ((r - ur) * share >> 8);
      }
    }
  }
  pen.putImageData(image, 0, 0);
  const ring = (row, from, to, color) => {
    const x = ox + positions[2 * row] * sx, y = oy - positions[2 * row + 1] * sy;
    for (const [radius, alpha] of [[to, 0.25], [from, 1]]) {
      pen.globalAlpha = alpha;
      pen.lineWidth = (alpha === 1 ? 2.5 : 6) * ratio;
      pen.strokeStyle = color;
      pen.beginPath();
      pen.arc(x, y, radius * ratio, 0, 7);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    return [x, y];
  };
  pen.font = `600 ${11 * ratio}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  data.hits.forEach((row, at) => {
    const [x, y] = ring(row, 9, 13, style.getPropertyValue("--gold"));
    pen.fillStyle = style.getPropertyValue("--ink");
    pen.fillText(String(at + 1), x + 17 * ratio, y - 11 * ratio);
  });
  if (hovered >= 0) ring(hovered, 7, 9, style.getPropertyValue("--ink"));
  canvas.dataset.points = data.rows;
  canvas.dataset.hits = data.hits.length;
  canvas.dataset.milliseconds = (performance.now() - started).toFixed(1);
}

function nearest(event) {
  const { ratio, sx, sy, ox, oy } = view(), box = canvas.getBoundingClientRect();
  const px = (event.clientX - box.left) * ratio, py = (event.clientY - box.top) * ratio;
  let best = -1, least = (12 * ratio) ** 2;
  for (let row = 0; row < data.rows; row += 1) {
    const distance = (ox + data.positions[2 * row] * sx - px) ** 2 + (oy - data.positions[2 * row + 1] * sy - py) ** 2;
    if (distance < least && (!only || data.marks[row] & only)) { least = distance; best = row; }
  }
  return best;
}

function moved(event) {
  if (!data) return;
  if (drag) {
    zoom.x += event.clientX - drag.x;
    zoom.y += event.clientY - drag.y;
    drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) };
    tip.hidden = true;
    return draw();
  }
  const row = nearest(event);
  if (row !== hovered) { hovered = row; draw(); }
  tip.hidden = row < 0;
  if (row < 0) return;
  const box = canvasBox.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 220)}px`;
  tip.style.top = `${event.clientY - box.top + 14}px`;
  replace(tip, data.files[data.file[row]].path);
}

async function pick(event) {
  const row = nearest(event);
  if (row < 0) return;
  const [{ places: [one] }, told] = await Promise.all([ask("places", { space: data.space, row }), ask("neighbours", { space: data.space, row }).catch(() => ({ neighbours: [] }))]);
  listed(`${one.path}:${one.start_line}`, [one, ...told.neighbours], "");
}

function zoomBy(by, event) {
  const before = zoom.scale;
  zoom.scale = Math.max(0.5, Math.min(60, before * by));
  const real = zoom.scale / before, box = canvas.getBoundingClientRect();
  const x = event ? event.clientX - box.left - box.width / 2 : 0, y = event ? event.clientY - box.top - box.height / 2 : 0;
  zoom.x = x - (x - zoom.x) * real;
  zoom.y = y - (y - zoom.y) * real;
  draw();
}

function key(event) {
  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (event.key === "+" || event.key === "=") zoomBy(1.25);
  else if (event.key === "-") zoomBy(0.8);
  else if (event.key in steps && document.activeElement === canvas) {
    event.preventDefault();
    zoom.x += steps[event.key][0];
    zoom.y += steps[event.key][1];
    draw();
  }
}

export default { open, show, key };
