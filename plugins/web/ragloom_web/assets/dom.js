// Elements without HTML: every text from the index goes through text nodes.

const SVG = "http://www.w3.org/2000/svg";

/** What cannot be printed, made visible: a document cannot steer what stands around it. */
export function visible(text) {
  // eslint-disable-next-line no-control-regex
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0);
    return code === 0x0d ? "" : code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });
}

function fill(node, given, children) {
  for (const [key, value] of Object.entries(given || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.setAttribute("class", value);
    else if (key === "vars") for (const [name, one] of Object.entries(value)) node.style.setProperty(`--${name}`, one);
    else if (key === "value" || key === "checked") node[key] = value;
    else node.setAttribute(key, value === true ? "" : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

/** An element: its attributes, and its children, of which strings are texts. */
export const el = (tag, given, ...children) => fill(document.createElement(tag), given, children);

/** The same, of a picture. */
export const svg = (tag, given, ...children) => fill(document.createElementNS(SVG, tag), given, children);

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return node;
}

/** A path with its name in bold; it may break behind each slash. */
export function pathNodes(path) {
  const at = path.lastIndexOf("/") + 1;
  const folders = path.slice(0, at).split("/").flatMap((part) => (part ? [`${part}/`, el("wbr")] : []));
  return [...folders, el("b", {}, path.slice(at))];
}

export const lines = (start, end) => (end > start ? `${start}–${end}` : `${start}`);
export const number = (value) => Number(value).toLocaleString("en");
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
export const two = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
