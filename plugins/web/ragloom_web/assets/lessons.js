// The view Lessons: what was learnt, how often it worked, and the templates.

import { el, number, replace } from "./dom.js";
import { ask } from "./server.js";

const TEXTS = [["failure_description", "failed"], ["error_message", "error"], ["solution_steps", "resolved by"], ["human_feedback", "rejected"], ["revision_approach", "then approved"], ["approved_approach", "approved"]];
let page, body;

function open(main, of) {
  page = of;
  body = el("div", { class: "columns even" });
  main.append(body);
}

async function show() {
  const [lessons, templates] = await Promise.all([ask("lessons"), ask("templates")]);
  if (page.view !== "lessons") return;
  replace(body, el("section", { "aria-label": "Lessons" }, el("h2", {}, "Lessons ", el("span", { class: "soft" }, number(lessons.lessons.length))), lessons.note && el("p", { class: "soft" }, lessons.note), lessons.lessons.map(lesson)),
    el("section", { "aria-label": "Templates" }, el("h2", {}, "Templates ", el("span", { class: "soft" }, number(templates.templates.length))), templates.note && el("p", { class: "soft" }, templates.note), templates.templates.map(template)));
}

function lesson(one) {
  const share = one.uses ? one.successes / one.uses : 0;
  const failing = one.uses >= 3 && share < 0.5;
  return el("article", { class: failing ? "card failing" : "card", id: `lesson-${one.id}` },
    el("header", { class: "line" }, el("h3", {}, one.kind.replaceAll("_", " ")), el("span", { class: "soft" }, [one.project, one.agent_type, one.task_type, one.technology].filter(Boolean).join(" · "))),
    el("div", { class: "uses" }, el("span", { class: failing ? "meter failing" : "meter", role: "img", "aria-label": `worked ${one.successes} of ${one.uses} times`, vars: { share } }, el("i")), el("b", {}, `${one.successes} of ${one.uses}`), el("span", { class: "soft" }, "worked")),
    TEXTS.map(([key, name]) => one[key] && el("p", {}, el("span", { class: "label" }, name), " ", one[key])),
    el("ul", { class: "facts" }, !one.success_verified && el("li", { class: "noted" }, "unverified"), !one.embedded && el("li", {}, "staged"), one.pinned && el("li", {}, "pinned"), failing && el("li", { class: "noted" }, "advised against"), one.superseded_by && el("li", { class: "noted" }, `superseded by ${one.superseded_by.slice(0, 8)}`), el("li", {}, one.id.slice(0, 8))),
    one.conflicts.length > 0 && el("p", { class: "conflict" }, "conflicts with: ", one.conflicts.map((id, at) => [at > 0 && ", ", el("a", { href: `#lesson-${id}` }, id.slice(0, 8))]), ", another solution of the same problem"));
}

const template = (one) => el("article", { class: "card" }, el("header", { class: "line" }, el("h3", {}, one.name), el("span", { class: "soft" }, [one.domain, one.complexity, one.methodology].filter(Boolean).join(" · "))),
  one.description && el("p", {}, one.description), one.keywords.length > 0 && el("ul", { class: "facts" }, one.keywords.map((word) => el("li", {}, word))),
  el("details", {}, el("summary", {}, "Text"), el("pre", { class: "embedded" }, one.content)));

export default { open, show };
