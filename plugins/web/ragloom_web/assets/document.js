// The view Document: a file with the borders of its chunks, and what is known of each.

import { el, lines, number, pathNodes, replace } from "./dom.js";
import { ask } from "./server.js";

let page, picker, names, head, source, side;
let read = null; // the document that is shown
let known = ""; // the space whose files are listed
let selected = -1;

function open(main, of) {
  page = of;
  read = null;
  known = "";
  selected = -1;
  names = el("datalist", { id: "files" });
  picker = el("input", { id: "file", list: "files", autocomplete: "off", spellcheck: "false", placeholder: "path of a file", onchange: () => picker.value && page.go({ view: "document", path: picker.value }) });
  head = el("div", { class: "doc-head" });
  source = el("section", { class: "source", "aria-label": "Source" });
  side = el("aside", { class: "side", "aria-label": "Chunk" });
  main.append(el("form", { class: "pick", onsubmit: (event) => { event.preventDefault(); page.go({ view: "document", path: picker.value }); } },
    el("label", { for: "file" }, "File"), picker, names), head, el("div", { class: "columns" }, source, side));
}

async function show(given) {
  const space = page.space.name;
  if (known !== `${space}:${page.space.generation}`) {
    const held = await ask("files", { space });
    known = `${space}:${page.space.generation}`;
    replace(names, held.files.map((one) => el("option", { value: one.path })));
    page.files = held.files;
  }
  if (!given.path) return listFiles();
  picker.value = given.path;
  if (read?.path !== given.path || read.space !== space) {
    replace(source, el("p", { class: "soft" }, "reading …"));
    replace(side);
    const turn = page.turn;
    const told = await ask("document", { space, path: given.path });
    if (turn !== page.turn) return;
    read = { ...told, space };
    paint();
  }
  const line = Number(given.line);
  const at = line ? read.chunks.findIndex((one) => one.start_line <= line && line <= one.end_line) : read.chunks.length ? 0 : -1;
  select(at, { scroll: Boolean(line) });
}

function listFiles() {
  read = null;
  replace(side);
  picker.value = "";
  replace(head, el("p", { class: "summary" }, el("span", {}, `${number(page.files.length)} files`)));
  const most = Math.max(1, ...page.files.map((one) => one.chunks));
  replace(source, el("ul", { class: "files" }, page.files.slice(0, 2000).map((one) => el("li", {},
    page.link({ view: "document", path: one.path }, pathNodes(one.path)),
    el("span", { class: "spark", "aria-hidden": "true", vars: { share: one.chunks / most } }),
    el("span", { class: "soft" }, `${number(one.chunks)} ${one.chunks === 1 ? "chunk" : "chunks"}`)))));
}

function paint() {
  const fields = Object.entries(read.metadata);
  replace(head,
    el("h2", { class: "place" }, pathNodes(read.path)),
    el("p", { class: "summary" }, el("span", {}, `${number(read.chunks.length)} chunks`), el("span", {}, `${number(read.chunks.reduce((sum, one) => sum + one.tokens, 0))} tokens`),
      fields.map(([key, values]) => el("span", {}, `${key}: ${values.join(", ")}`)),
      read.changed && el("span", { class: "noted" }, "changed after indexing: run 'ragloom index'"),
      read.warnings.map((one) => el("span", { class: "noted" }, one))));
  const blocks = [];
  for (const piece of read.segments) {
    const rows = piece.text.replace(/\n$/, "").split("\n").map((text, at) => el("div", { class: "row" }, el("span", { class: "no", "aria-hidden": "true" }, piece.line + at), el("span", { class: "text" }, text)));
    const [first] = piece.chunks;
    if (first === undefined) {
      if (piece.text.trim()) blocks.push(el("div", { class: "between" }, rows));
      continue;
    }
    const last = blocks.at(-1);
    if (last?.dataset.chunk === String(first)) {
      last.append(...rows);
      continue;
    }
    const chunk = read.chunks[first];
    blocks.push(el("div", { class: `chunk tone${first % 2}`, "data-chunk": first },
      el("button", { class: "border", type: "button", onclick: () => select(first, { scroll: false }) },
        el("b", {}, `chunk ${first + 1}`), el("span", {}, `${number(chunk.tokens)} tokens`), piece.chunks.length > 1 && el("span", {}, `overlaps chunk ${piece.chunks[1] + 1}`)), rows));
  }
  replace(source, blocks);
}

async function select(at, { scroll }) {
  selected = at;
  for (const block of source.querySelectorAll(".chunk")) block.toggleAttribute("data-selected", Number(block.dataset.chunk) === at);
  const chunk = read?.chunks[at];
  if (!chunk) return replace(side);
  if (scroll) {
    const block = source.querySelector(`[data-chunk="${at}"]`);
    for (const again of [0, 60, 200]) setTimeout(() => block?.scrollIntoView({ block: "start" }), again); // heights above are known by then
  }
  const near = el("ol", { class: "near" }, el("li", { class: "soft" }, chunk.row === null ? "not indexed as it stands now" : "comparing …"));
  replace(side, el("section", { class: "card" },
    el("h2", {}, `Chunk ${at + 1} of ${read.chunks.length}`),
    el("ul", { class: "facts" }, el("li", {}, "lines ", el("b", {}, lines(chunk.start_line, chunk.end_line))), el("li", {}, el("b", {}, number(chunk.tokens)), " tokens")),
    chunk.headings.length > 0 && el("p", { class: "crumbs" }, chunk.headings.join(" › ")),
    el("p", {}, el("button", { class: "button", type: "button", onclick: () => page.edit(read.path, chunk.start_line) }, "Open in the editor"))),
  el("section", { class: "card" }, el("h2", {}, "What is embedded"), el("pre", { class: "embedded", tabindex: 0, "aria-label": "The text that is embedded" }, chunk.embedded ?? "nothing yet")),
  el("section", { class: "card" }, el("h2", {}, "Nearest chunks"), near));
  if (chunk.row === null) return;
  try {
    const told = await ask("neighbours", { space: page.space.name, row: chunk.row });
    if (selected !== at) return;
    replace(near, told.neighbours.map((one) => el("li", {}, page.link({ view: "document", path: one.path, line: one.start_line }, pathNodes(one.path), `:${one.start_line}`), el("span", { class: "spark", "aria-hidden": "true", vars: { share: Math.max(0, one.cosine) } }), el("span", { class: "soft" }, one.cosine.toFixed(2)), el("p", { class: "soft" }, one.begins))));
  } catch (error) {
    replace(near, el("li", { class: "soft" }, error.message));
  }
}

function key(event) {
  if (!read) return;
  if (event.key === "j" || event.key === "k") select(Math.max(0, Math.min(read.chunks.length - 1, selected + (event.key === "j" ? 1 : -1))), { scroll: true });
  else if (event.key === "o" && read.chunks[selected]) page.edit(read.path, read.chunks[selected].start_line);
}

export default { open, show, key };
