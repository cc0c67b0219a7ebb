// The view Search: hits, the gate, facets of front matter, and why a file is not among them.

import { el, lines, number, pathNodes, replace, svg, two } from "./dom.js";
import { ask } from "./server.js";

const ROWS = 8; // of a passage, as on a terminal
const FACETS = 8; // values of a field
let page, summary, list, gate, strip, slider, shownGate, facets, files, why, whyFile;
let asked = "";
let chosen = {};
let limit = 0;

function open(main, of) {
  page = of;
  asked = "";
  slider = el("input", { type: "range", id: "gate", min: 0, max: 1, step: 0.01, value: 0.3, "aria-label": "Minimum relevance", oninput: () => move(Number(slider.value)) });
  shownGate = el("output", { for: "gate" });
  strip = svg("svg", { class: "strip", viewBox: "0 0 300 44", preserveAspectRatio: "none", role: "img" });
  facets = el("div", { class: "facets" });
  whyFile = el("input", { id: "why-file", list: "why-files", autocomplete: "off", spellcheck: "false", placeholder: "path of a file" });
  files = el("datalist", { id: "why-files" });
  why = el("div", { class: "told", "aria-live": "polite" });
  summary = el("p", { class: "summary", "aria-live": "polite" });
  list = el("div", { class: "hits" });
  gate = el("aside", { class: "side", "aria-label": "Gate, facets and missing files" },
    el("section", { class: "card" }, el("h2", {}, "Gate ", shownGate), strip, slider,
      el("div", { class: "ends" }, el("span", {}, "0 everything"), el("button", { class: "plain", type: "button", onclick: () => { slider.value = page.space.min_relevance; move(page.space.min_relevance); } }, "reset"), el("span", {}, "1"))),
    facets,
    el("section", { class: "card" }, el("h2", {}, "Why not?"),
      el("form", { class: "why", onsubmit: (event) => { event.preventDefault(); tellWhy(); } },
        el("label", { class: "hidden", for: "why-file" }, "A file that should be found"), whyFile, files,
        el("button", { class: "button" }, "Explain")), why));
  main.append(el("div", { class: "columns" }, el("section", { "aria-label": "Hits" }, summary, list), gate));
}

async function show(given) {
  const space = page.space.name;
  if (!given.q) return welcome(space);
  const key = JSON.stringify([space, given.q, chosen]);
  if (key === asked && page.result) return paint();
  if (asked && JSON.parse(asked)[1] !== given.q) chosen = {};
  replace(summary, "searching …");
  const wanted = Object.fromEntries(Object.entries(chosen).map(([field, values]) => [`facet.${field}`, values]));
  const turn = page.turn;
  const [result, held] = await Promise.all([ask("search", { space, q: given.q, ...wanted }), ask("files", { space })]);
  if (turn !== page.turn) return;
  page.result = result;
  asked = JSON.stringify([space, given.q, chosen]);
  gate.hidden = false;
  limit = given.gate === undefined ? result.min_relevance : Number(given.gate);
  slider.value = limit;
  replace(files, held.files.map((one) => el("option", { value: one.path })));
  replace(why);
  drawFacets();
  paint();
}

function welcome(space) {
  asked = "";
  page.result = null;
  gate.hidden = true;
  replace(summary);
  const known = page.space;
  replace(list, el("div", { class: "empty welcome" },
    el("p", { class: "big" }, `${number(known.chunks)} chunks of ${number(known.files)} files`),
    el("p", {}, "in ", el("b", {}, space), ". Ask a question, or for words; every hit says where it stands, and why."),
    el("p", { class: "tips" }, page.link({ view: "map" }, "See them as a map"), page.link({ view: "document" }, "Read a document"), page.link({ view: "audit" }, "What was asked"))));
}

/** What the gate shows: the server has judged every gate that makes a difference. */
function gated() {
  const found = page.result.gates.find((one) => one.min_relevance >= limit);
  return found ? found.hits : [];
}

function move(to) {
  limit = to;
  page.go({ view: "search", gate: to === page.space.min_relevance ? undefined : to }, { keep: true });
  paint();
}

function paint() {
  const result = page.result;
  const hits = gated();
  shownGate.textContent = limit.toFixed(2);
  drawStrip(hits);
  const below = result.candidates.filter((one) => one.relevance < limit);
  const under = result.relevances.filter((one) => one < limit).length;
  const facts = [`${number(hits.length)} ${hits.length === 1 ? "hit" : "hits"}`, `${number(under)} of ${number(result.relevances.length)} candidates below the gate`, `${number(result.total)} of ${number(result.chunks)} chunks compared`, result.mode];
  replace(summary, facts.map((fact) => el("span", {}, fact)),
    result.searched_for && el("span", { class: "noted" }, `searched for: ${result.searched_for}`),
    result.pending > 0 && el("span", { class: "noted" }, `${number(result.pending)} chunks are not embedded yet`));
  const cards = hits.map((hit) => card(result.candidates[hit.candidate], hit));
  if (!hits.length) {
    const best = result.candidates.reduce((most, one) => (!most || one.relevance > most.relevance ? one : most), null);
    cards.push(el("div", { class: "empty" }, el("p", { class: "big" }, "No hit"),
      el("p", {}, best ? `The most relevant candidate has ${two(best.relevance)}, and the gate is ${limit.toFixed(2)}.` : result.reason || "Nothing was compared."),
      best && el("button", { class: "button", type: "button", onclick: () => { slider.value = Math.floor(best.relevance * 100) / 100; move(Number(slider.value)); } }, "Lower the gate to it")));
  }
  const more = below.length
    ? el("details", { class: "below" }, el("summary", {}, below.length === 1 ? "A candidate below the gate" : `The best ${number(Math.min(below.length, 40))} candidates below the gate`), below.slice(0, 40).map((one) => card(one, null)))
    : null;
  replace(list, cards, more);
}

function card(one, hit) {
  const place = `${one.path}:${one.start_line}`;
  const body = el("div", { class: "passage" });
  const start = one.lines.length > ROWS ? one.best : 0;
  fillPassage(body, one, start, Math.min(start + ROWS, one.lines.length));
  return el("article", { class: hit ? "hit" : "hit out", tabindex: 0, "data-path": one.path, "data-line": one.start_line + start, "data-rank": one.rank, "aria-label": `${place}, relevance ${two(one.relevance)}` },
    el("header", {},
      el("span", { class: `score ${one.relevance >= 0.7 ? "high" : one.relevance >= 0.4 ? "middle" : "low"}` }, two(one.relevance)),
      el("h2", { class: "place" }, page.link({ view: "document", path: one.path, line: one.start_line }, pathNodes(one.path), el("span", { class: "soft" }, `:${lines(one.start_line, one.end_line)}`))),
      page.editButton(one.path, one.start_line + start)),
    el("div", { class: "bar", role: "img", "aria-label": `relevance ${two(one.relevance)}, gate ${limit.toFixed(2)}`, vars: { share: one.relevance, gate: limit } }, el("i"), el("u")),
    one.headings.length > 0 && el("p", { class: "crumbs" }, one.headings.map((title, at) => [at > 0 && el("span", { "aria-hidden": "true" }, " › "), title])),
    body,
    el("ul", { class: "facts" },
      fact("rank", `#${one.rank}`), fact("by meaning", one.dense_rank ? `#${one.dense_rank}` : "–"), fact("by words", one.lexical_rank ? `#${one.lexical_rank}` : "–"),
      fact("cosine", two(one.cosine)), fact("words", `${one.matched} (${Math.round(100 * one.coverage)} %)`),
      Object.entries(one.metadata || {}).slice(0, 4).map(([key, value]) => ["string", "number"].includes(typeof value) && fact(key, value))),
    hit?.copies.length > 0 && el("p", { class: "also" }, "same text: ", hit.copies.slice(0, 4).map((copy, at) => [at > 0 && ", ", page.link({ view: "document", path: copy.path, line: copy.start_line }, `${copy.path}:${copy.start_line}`)]), hit.copies.length > 4 && ` and ${hit.copies.length - 4} more`),
    hit?.more_in_file.length > 0 && el("p", { class: "also" }, "more in this file: ", hit.more_in_file.slice(0, 8).map((span, at) => [at > 0 && ", ", page.link({ view: "document", path: one.path, line: span.start_line }, lines(span.start_line, span.end_line))])));
}

const fact = (name, value) => el("li", {}, el("span", {}, name), " ", el("b", {}, value));

function fillPassage(body, one, start, end) {
  const rows = one.lines.slice(start, end).map((parts, at) => el("div", { class: "row" },
    el("span", { class: "no", "aria-hidden": "true" }, one.start_line + start + at),
    el("span", { class: "text" }, parts.map((part, odd) => (odd % 2 ? el("mark", {}, part) : part)))));
  const left = one.lines.length - (end - start);
  replace(body, rows, left > 0 && el("button", { class: "plain more", type: "button", onclick: () => fillPassage(body, one, 0, one.lines.length) }, left === 1 ? "1 more line" : `${left} more lines`));
}

/** Every candidate where its relevance is, and the gate among them. */
function drawStrip(hits) {
  const found = page.result.relevances;
  strip.setAttribute("aria-label", `${found.length} candidates by relevance; ${found.filter((one) => one >= limit).length} pass the gate, ${hits.length} are shown`);
  const stacks = {};
  const dots = found.map((relevance) => {
    const column = Math.round(relevance * 60);
    const height = (stacks[column] = (stacks[column] || 0) + 1);
    return svg("rect", { class: relevance < limit ? "out" : "in", x: 2 + relevance * 292, y: 41 - Math.min(height, 13) * 3, width: 4, height: 2.2, rx: 1 });
  });
  const x = 4 + limit * 292;
  replace(strip, dots, svg("line", { class: "limit", x1: x, x2: x, y1: 0, y2: 42 }), svg("line", { class: "axis", x1: 2, x2: 298, y1: 42, y2: 42 }));
}

function drawFacets() {
  const counts = {};
  for (const one of page.result.candidates) {
    for (const [field, value] of Object.entries(one.metadata || {})) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (["string", "number"].includes(typeof each) && String(each).length <= 40) {
          (counts[field] ??= {})[each] = (counts[field][each] || 0) + 1;
        }
      }
    }
  }
  for (const [field, values] of Object.entries(chosen)) for (const value of values) (counts[field] ??= {})[value] ??= 0;
  const all = page.result.candidates.length;
  const told = Object.entries(counts).filter(([field, values]) => {
    const few = Object.keys(values).length;
    return chosen[field] || (few <= 20 && (few > 1 || Object.values(values)[0] < all));
  });
  replace(facets, told.slice(0, 6).map(([field, values]) => el("section", { class: "card" }, el("h2", {}, field),
    el("ul", { class: "values" }, Object.entries(values).sort((a, b) => b[1] - a[1]).slice(0, FACETS).map(([value, count]) => el("li", {},
      el("label", {}, el("input", { type: "checkbox", checked: Boolean(chosen[field]?.includes(value)), onchange: (event) => choose(field, value, event.target.checked) }), el("span", {}, value), el("span", { class: "soft" }, count))))))));
}

function choose(field, value, on) {
  const values = (chosen[field] || []).filter((one) => one !== value);
  if (on) values.push(value);
  chosen = { ...chosen, [field]: values };
  if (!values.length) delete chosen[field];
  page.result = null;
  page.go({ view: "search" });
}

async function tellWhy() {
  if (!whyFile.value.trim()) return whyFile.focus();
  replace(why, "explaining …");
  try {
    const told = await ask("why", { space: page.space.name, q: page.query, path: whyFile.value.trim() });
    replace(why, told.reason && el("p", { class: "reason" }, told.reason), told.expected.map((one) => el("div", { class: "expected" },
      el("p", {}, page.link({ view: "document", path: one.path, line: one.start_line }, `line ${lines(one.start_line, one.end_line)}`), " ranks ", el("b", {}, `#${one.rank}`), ` of ${number(told.candidates)}`),
      el("p", { class: one.verdict === "shown" ? "verdict good" : "verdict" }, one.verdict),
      el("ul", { class: "facts" }, fact("relevance", two(one.relevance)), fact("by meaning", one.dense_rank ? `#${one.dense_rank}` : "–"), fact("by words", one.lexical_rank ? `#${one.lexical_rank}` : "–"), fact("words", `${one.matched} (${Math.round(100 * one.coverage)} %)`)),
      one.missing.length > 0 && el("p", { class: "soft" }, "it lacks: ", one.missing.map((word) => el("span", { class: "lacks" }, word))))));
  } catch (error) {
    replace(why, el("p", { class: "reason" }, error.message));
  }
}

function key(event) {
  const cards = [...list.querySelectorAll(".hit")].filter((one) => one.offsetParent);
  const at = cards.indexOf(document.activeElement);
  if (event.key === "j" || event.key === "k") cards[Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
  else if (event.key === "[" || event.key === "]") {
    slider.value = Number(slider.value) + (event.key === "]" ? 0.05 : -0.05);
    if (page.result) move(Number(slider.value));
  } else if (at >= 0 && event.key === "o") page.edit(cards[at].dataset.path, cards[at].dataset.line);
  else if (at >= 0 && event.key === "Enter" && event.target === cards[at]) page.go({ view: "document", path: cards[at].dataset.path, line: cards[at].dataset.line });
}

export default { open, show, key };
