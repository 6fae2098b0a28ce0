// JSON as it was sent: no digit, escape or order of it is changed. In colours, which folds, and as a difference of two
// texts.

import { button, h, linkButton, plain } from "./dom.js";
import { own } from "./route.js";
import { change, state } from "./store.js";

// JSON that is nested deeper is shown as plain text.
const maxDepth = 300;

const tokens = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/gy;
/** The kinds of values by how they begin; any other is a number. @type {Record<string, JsonNode["kind"]>} */
const kinds = { "{": "object", "[": "array", '"': "string", t: "word", f: "word", n: "word" };

/** parseJSON reads JSON, and keeps its literals as they are. JSON.parse would change long numbers. Of a text that
 * was cut, it reads what is there.
 * @param {string} text @param {boolean} cut @returns {Json | null} null if it is not JSON */
export function parseJSON(text, cut) {
  try {
    if (!cut) JSON.parse(text);
  } catch {
    return null;
  }
  /** @type {JsonNode | null} */
  let root = null;
  /** @type {JsonNode[]} */
  const nesting = [];
  let name = "";
  for (const { 0: match, 1: token, index } of text.matchAll(tokens)) {
    const around = nesting.at(-1);
    const kind = kinds[token[0]] ?? "number";
    if (token === "," || token === ":") continue;
    if (token === "}" || token === "]") {
      if (around) around.closed = true;
      nesting.pop();
    } else if (around?.kind === "object" && name === "") {
      name = token;
    } else if (!cut || kind !== "number" || index + match.length < text.length) { // else digits may be missing
      const nested = kind === "object" || kind === "array";
      /** @type {JsonNode} */
      const node = { kind, text: nested ? "" : token, items: [], closed: !nested };
      around?.items.push({ name, node });
      root ??= node;
      name = "";
      if (nested) nesting.push(node);
      if (nesting.length > maxDepth) return null;
    }
  }
  return !root || (cut && root.items.length === 0) ? null : { root, cut: nesting.length > 0 };
}

/** The nodes that objects were made from. @type {WeakMap<object, JsonNode>} */
const origins = new WeakMap();

/** nodeOf returns the node that an object was made from. @param {object} object */
export const nodeOf = (object) => /** @type {JsonNode} */ (origins.get(object));

/** valueOf returns a value to read fields from. Numbers are texts, with every digit that was sent.
 * @param {JsonNode} node @returns {any} */
export function valueOf(node) {
  switch (node.kind) {
    case "string": return JSON.parse(node.text);
    case "number": return node.text;
    case "word": return JSON.parse(node.text);
    case "array": return node.items.map((item) => valueOf(item.node));
    default: {
      const object = {};
      for (const { name, node: inner } of node.items) own(object, JSON.parse(name), valueOf(inner));
      origins.set(object, node);
      return object;
    }
  }
}

/** pretty returns a node as indented text. @param {JsonNode} node @param {string} [indent] @returns {string} */
export function pretty(node, indent = "") {
  if (node.kind !== "object" && node.kind !== "array") return node.text;
  const [start, end] = node.kind === "array" ? "[]" : "{}";
  if (node.items.length === 0) return start + end;
  const inner = node.items.map(({ name, node: item }) =>
    indent + "  " + (name && name + ": ") + pretty(item, indent + "  "));
  return `${start}\n${inner.join(",\n")}\n${indent}${end}`;
}

/** decoded returns the contents of ctx, indented. @param {string} ctx */
export function decoded(ctx) {
  const bytes = atob(ctx.replaceAll("-", "+").replaceAll("_", "/"));
  const json = parseJSON(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))), false);
  return json ? pretty(json.root) : "";
}

// An object or array with more is shown in part until it is opened, and what is deeper is folded at first.
const maxItems = 100;
const openDepth = 4;

/** tree shows a JSON value. @param {JsonNode} node @param {string} [path] @returns {VNode} */
export const tree = (node, path = "$") =>
  h("div", { class: "json code", tabindex: "0", role: "group", "aria-label": "JSON" },
  branch(node, path, 0, true, ""));

/** @param {JsonNode} node @param {string} path @param {number} depth @param {boolean} last @param {string} name
 * @returns {Child[]} */
function branch(node, path, depth, last, name) {
  const label = name === "" ? [] : [h("span", { class: "json-key" }, plain(name)), ": "];
  const comma = last ? "" : ",";
  const { kind, items } = node;
  const line = (/** @type {Child[]} */ ...parts) => h("div", { class: "json-line", key: path }, parts);
  if (kind !== "object" && kind !== "array") return [line(label,
    h("span", { class: "json-" + kind }, plain(node.text)), comma)];
  const [start, end] = kind === "array" ? "[]" : "{}";
  if (items.length === 0) return [line(label, start + (node.closed ? end : " …") + comma)];
  const folded = state.folded[path] ?? depth >= openDepth;
  const shown = state.folded[path + " all"] ? items : items.slice(0, maxItems);
  const toggle = button({
    class: "fold chevron" + (folded ? "" : " down"), "aria-expanded": String(!folded),
    "aria-label": plain(`${name || "value"}, ${items.length} items`),
    onclick: () => change((state) => { state.folded[path] = !folded; }),
  });
  if (folded) return [line(toggle, label, `${start} `, h("span", { class: "quiet" }, `${items.length}`),
    ` ${end}${comma}`)];
  return [
    line(toggle, label, start),
    h("div", { class: "json-inner", key: path + " inner" },
      shown.map((item, i) => branch(item.node, `${path}/${i}`, depth + 1, i === items.length - 1, item.name)),
      shown.length < items.length
        && linkButton(() => change((state) => { state.folded[path + " all"] = true; }),
          `${items.length - shown.length} more`)),
    h("div", { class: "json-line", key: path + " end" },
      node.closed ? end + comma : h("em", { class: "quiet" }, "cut here")),
  ];
}

/** diffLines shows a difference of two texts, whose lines begin with +, - or a space.
 * @param {string} difference @returns {Child} */
export function diffLines(difference) {
  if (difference === "") return h("p", { class: "blank-line" }, "Identical to the previous response.");
  const kinds = /** @type {Record<string, string>} */ ({ "+": "added", "-": "removed" });
  const lines = difference.split("\n").slice(4, -1).slice(0, maxDiffLines); // behind the names and the first place
  return h("div", { class: "code diff", tabindex: "0", role: "group", "aria-label": "Difference" },
    lines.map((line) => h("div", { class: kinds[line[0]] ?? "same" },
      kinds[line[0]] && h("span", { class: "unseen" }, kinds[line[0]] + ": "),
      line.startsWith("@@") ? "…" : plain(line))));
}

// What a person reads of a difference.
const maxDiffLines = 1200;
