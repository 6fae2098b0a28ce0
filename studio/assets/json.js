// JSON as it was sent: no digit, escape or order of it is changed. In colours, which folds, and as a difference of two
// texts.

import { button, h, linkButton, plain } from "./dom.js";
import { own } from "./route.js";
import { change, state } from "./store.js";

// JSON that is nested deeper is shown as plain text.
const maxDepth = 300;

const space = /[ \t\r\n]*/y;
const stringLiteral = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const numberLiteral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordLiteral = /true|false|null/y;

/** parseJSON reads JSON, and keeps its literals as they are. JSON.parse would change long numbers. Of a text that
 * was cut, it reads what is there.
 * @param {string} text @param {boolean} cut @returns {Json | null} null if it is not JSON */
export function parseJSON(text, cut) {
  let at = 0;
  let broken = false;
  const literal = (/** @type {RegExp} */ pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const value = (/** @type {number} */ depth) => {
    literal(space);
    const list = text[at] === "[";
    if (!list && text[at] !== "{") return scalar();
    /** @type {JsonNode} */
    const node = { kind: list ? "array" : "object", text: "", items: [], closed: false };
    if (depth > maxDepth) broken = true;
    for (at++; !broken;) {
      literal(space);
      if (text[at] === (list ? "]" : "}")) {
        at++;
        node.closed = true;
        return node;
      }
      if (node.items.length > 0 && text[at++] !== ",") broken = true;
      literal(space);
      const name = list || broken ? "" : literal(stringLiteral);
      if (!list) literal(space);
      if (!list && (name === "" || text[at++] !== ":")) broken = true;
      const inner = broken ? null : value(depth + 1);
      if (inner) node.items.push({ name, node: inner });
    }
    return node;
  };
  /** @returns {JsonNode | null} */
  const scalar = () => {
    for (const [kind, pattern] of /** @type {const} */ ([["string", stringLiteral], ["number", numberLiteral],
      ["word", wordLiteral]])) {
      const found = literal(pattern);
      if (found !== "" && !(cut && kind === "number" && at === text.length)) return { kind, text: found, items: [],
        closed: true };
    }
    broken = true;
    return null;
  };
  const root = value(0);
  literal(space);
  if (!root || (at < text.length && !broken)) return null;
  return broken && !(cut && root.items.length > 0) ? null : { root, cut: broken };
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

// What a person reads of a difference, and what takes no time to find.
const maxDiffLines = 1200;
const context = 3;

/** diffLines shows what changed from one text to another.
 * @param {string} before @param {string} after @returns {Child} */
export function diffLines(before, after) {
  if (before === after) return h("p", { class: "blank-line" }, "Identical to the previous response.");
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const cutA = a.slice(start, a.length - end);
  const cutB = b.slice(start, b.length - end);
  const as = (/** @type {string} */ kind, /** @type {string[]} */ lines) => lines.map((text) => ({ kind, text }));
  const lines = cutA.length * cutB.length > maxDiffLines * maxDiffLines
    ? [...as("removed", cutA.slice(0, maxDiffLines)), ...as("added", cutB.slice(0, maxDiffLines))]
      : compare(cutA, cutB);
  const around = [...as("same", a.slice(Math.max(0, start - context), start)), ...lines,
    ...as("same", a.slice(a.length - end, a.length - end + context))];
  const signs = /** @type {Record<string, string>} */ ({ added: "+ ", removed: "− ", same: "  " });
  return h("div", { class: "code diff", tabindex: "0", role: "group", "aria-label": "Difference" },
    shorten(around).slice(0, maxDiffLines).map(({ kind, text }) => h("div", { class: kind },
      h("span", { "aria-hidden": "true" }, signs[kind]),
        kind !== "same" && h("span", { class: "unseen" }, kind + ": "), plain(text))));
}

/** @typedef {{ kind: string, text: string }} Line */

/** compare finds the longest common lines. @param {string[]} a @param {string[]} b @returns {Line[]} */
function compare(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [below, beside] = [lengths[(i + 1) * width + j], lengths[i * width + j + 1]];
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(below, beside);
    }
  }
  /** @type {Line[]} */
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i] });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      out.push({ kind: "removed", text: a[i++] });
    } else {
      out.push({ kind: "added", text: b[j++] });
    }
  }
  return out;
}

/** shorten leaves out long stretches that are the same. @param {Line[]} lines @returns {Line[]} */
function shorten(lines) {
  return lines.flatMap((line, i) => {
    const near = lines.slice(Math.max(0, i - context), i + context + 1).some((other) => other.kind !== "same");
    if (near) return [line];
    const before = lines.slice(Math.max(0, i - 1 - context), i + context).some((other) => other.kind !== "same");
    return before ? [{ kind: "same", text: "…" }] : [];
  });
}
