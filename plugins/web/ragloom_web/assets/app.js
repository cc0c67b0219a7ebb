// The frame of the page: views, addresses, keys, theme.

import { el, number, replace, visible } from "./dom.js";
import { ask, send } from "./server.js";

const NAMES = ["search", "document", "map", "relevance", "lessons", "audit"];
const views = {};
const main = document.getElementById("main");
const query = document.getElementById("q");
const chooser = document.getElementById("space");
const said = document.getElementById("said");

export const page = {
  state: { spaces: [] },
  view: "",
  result: null, // of the last search

  /** The values of the address. */
  get given() {
    return Object.fromEntries(new URLSearchParams(location.search));
  },

  get space() {
    return page.state.spaces.find((one) => one.name === chooser.value) || page.state.spaces[0];
  },

  get query() {
    return query.value.trim();
  },

  /** Navigate: parameters that are not given are omitted, except for the space and the query. */
  go(given, { keep = false } = {}) {
    const next = { space: page.space?.name, q: page.query, ...given };
    const text = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== undefined && value !== "")).toString();
    history[keep ? "replaceState" : "pushState"](null, "", `/?${text}`);
    if (given.q !== undefined) query.value = given.q;
    return keep ? undefined : show();
  },

  link(given, ...children) {
    const next = { space: page.space?.name, q: page.query, ...given };
    const href = `/?${new URLSearchParams(Object.entries(next).filter(([, value]) => value !== undefined && value !== ""))}`;
    return el("a", { href, onclick: (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      page.go(given);
    } }, ...children);
  },

  say(text, kind = "") {
    said.className = kind;
    said.textContent = visible(text);
    clearTimeout(page.silence);
    page.silence = setTimeout(() => { said.textContent = ""; said.className = ""; }, 6000);
  },

  async edit(path, line) {
    try {
      const told = await send("open", { space: page.space.name, path, line });
      if (told.opened) return page.say(`opened ${path}:${line}`);
      await navigator.clipboard.writeText(told.command).then(
        () => page.say(`copied for a terminal: ${told.command}`),
        () => page.say(`for a terminal: ${told.command}`),
      );
    } catch (error) {
      page.say(error.message, "bad");
    }
  },

  editButton(path, line) {
    return el("button", { class: "icon small", type: "button", "aria-label": `Open ${path} line ${line} in the editor`, title: "Open in the editor (o)", onclick: () => page.edit(path, line) }, "↗");
  },
};

async function view(name) {
  views[name] ??= (await import(`./${name}.js`)).default;
  return views[name];
}

async function show() {
  const given = page.given;
  const name = NAMES.includes(given.view) ? given.view : given.path ? "document" : "search";
  for (const link of document.querySelectorAll("#views a")) {
    link.toggleAttribute("data-here", link.dataset.view === name);
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const turn = (page.turn = {});
  document.title = `${given.q && name === "search" ? `${visible(given.q)} · ` : ""}${name} · ragloom`;
  try {
    const shown = await view(name);
    if (page.view !== name) {
      page.view = name;
      main.className = name;
      replace(main, el("h1", { class: "hidden" }, name[0].toUpperCase() + name.slice(1)));
      shown.open(main, page);
    }
    if (!page.space) throw new Error("nothing is indexed yet: run 'ragloom index', then reload");
    if (!page.space.generation) throw new Error(`nothing is indexed in ${page.space.name} yet: run 'ragloom index', then reload`);
    await shown.show(given, page);
  } catch (error) {
    if (turn === page.turn) {
      page.view = "";
      replace(main, el("div", { class: "empty" }, el("h1", {}, "Nothing to show"), el("p", {}, error.message)));
    }
  }
}

document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (page.query) page.go({ view: page.view === "map" ? "map" : "search", q: page.query });
});
chooser.addEventListener("change", () => {
  page.result = null;
  page.go({ view: page.view === "document" ? "document" : page.view || "search" });
});
for (const link of document.querySelectorAll("#views a")) {
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    page.go({ view: link.dataset.view });
  });
}
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* not kept */ }
  dispatchEvent(new Event("theme"));
});
const keys = document.getElementById("keys");
document.getElementById("help").addEventListener("click", () => keys.showModal());
addEventListener("popstate", () => { start(); show(); });
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    query.select();
    query.focus();
  } else if (event.key === "?") keys.showModal();
  else if (/^[1-6]$/.test(event.key)) page.go({ view: NAMES[event.key - 1] });
  else views[page.view]?.key?.(event, page);
});

function start() {
  const given = page.given;
  query.value = given.q || "";
  if (page.state.spaces.some((one) => one.name === given.space)) chooser.value = given.space;
}

try {
  page.state = await ask("state");
  replace(chooser, page.state.spaces.map((one) => el("option", { value: one.name }, `${one.name} (${number(one.chunks)})`)));
  start();
  await show();
} catch (error) {
  page.say(error.message, "bad");
}
document.body.dataset.ready = "";
