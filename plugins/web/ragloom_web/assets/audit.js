// The view Audit: what was asked, what was given, and what found nothing.

import { el, number, percent, replace } from "./dom.js";
import { ask } from "./server.js";

let page, body;

function open(main, of) {
  page = of;
  body = el("div");
  main.append(body);
}

async function show() {
  const told = await ask("audit");
  if (page.view !== "audit") return;
  if (!told.entries.length) return replace(body, el("div", { class: "empty" }, el("p", { class: "big" }, "Nothing was asked yet"), el("p", {}, "Every search, by people, agents and programs, is written down here, unless the setting audit is off.")));
  const times = told.entries.filter((one) => one.hits).map((one) => one.milliseconds).sort((a, b) => a - b);
  replace(body,
    el("dl", { class: "tiles" }, tile("searches", number(told.searches)), tile("answered", told.searches ? percent(told.answered / told.searches) : "–"), tile("found nothing", number(told.nothing.length)), tile("median", times.length ? `${Math.round(times[times.length >> 1])} ms` : "–")),
    el("div", { class: "columns even" },
      el("section", { class: "card", "aria-label": "Found nothing" }, el("h2", {}, "Found nothing"), el("p", { class: "soft" }, "What people look for and the documents do not say: the best list for whoever writes them."),
        told.nothing.length ? el("ol", { class: "nothing" }, told.nothing.map((one) => el("li", {}, page.link({ view: "search", q: one.query }, one.query), el("span", { class: "count" }, `×${one.count}`), el("p", { class: "soft" }, one.reason || "")))) : el("p", {}, "Every query that is known has an answer.")),
      el("section", { class: "card", "aria-label": "The log" }, el("h2", {}, "The log"), el("ol", { class: "log" }, merged(told.entries).map(entry)))));
}

const tile = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

/** The same query several times in a row, as one entry. */
function merged(entries) {
  const found = [];
  for (const one of entries) {
    const last = found.at(-1);
    if (last && one.query && last.query === one.query && last.operation === one.operation && last.hits?.length === one.hits?.length) last.times += 1;
    else found.push({ ...one, times: 1 });
  }
  return found;
}

function entry(one) {
  const hits = one.hits;
  const paths = hits ? [...new Set(hits.map((hit) => hit.path))] : [];
  return el("li", { class: hits && !hits.length ? "missed" : "" },
    el("time", { datetime: one.time }, one.time.slice(5, 16).replace("T", " ")), el("span", { class: "operation" }, one.operation),
    hits && one.query ? page.link({ view: "search", q: one.query }, one.query) : el("span", {}, one.query_sha256 ? `query ${one.query_sha256.slice(0, 12)}` : one.space), one.times > 1 && el("span", { class: "count" }, `×${one.times}`),
    el("p", { class: "soft" }, hits
      ? hits.length ? [`${hits.length} ${hits.length === 1 ? "hit" : "hits"}${one.tokens ? `, ${number(one.tokens)} tokens` : ""}: `, paths.slice(0, 3).join(", "), paths.length > 3 && ` and ${paths.length - 3} more`] : one.reason || "nothing"
      : Object.entries(one.report || {}).filter(([, value]) => value).map(([name, value]) => `${number(value)} ${name}`).join(", ")));
}

export default { open, show };
