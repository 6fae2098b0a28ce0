// JSON in colours, which folds, and the difference of two texts.

import { h, plain } from "./dom.js";
import { change, state } from "./store.js";

/** @typedef {import("./dom.js").VNode} VNode */
/** @typedef {import("./dom.js").Child} Child */

// An object or array with more is shown in part until it is opened, and what is deeper is folded at first.
const maxItems = 100;
const openDepth = 4;

/** tree shows a JSON value. @param {any} json @param {string} [path] @returns {VNode} */
export const tree = (json, path = "$") => h("div", { class: "json code", tabindex: "0", role: "group", "aria-label": "JSON" }, node(json, path, 0, true));

/** @param {any} json @param {string} path @param {number} depth @param {boolean} last @param {string} [name] @returns {Child[]} */
function node(json, path, depth, last, name) {
  const label = name === undefined ? [] : [h("span", { class: "json-key" }, plain(JSON.stringify(name))), ": "];
  const comma = last ? "" : ",";
  if (json === null || typeof json !== "object") {
    return [h("div", { class: "json-line", key: path }, label, h("span", { class: "json-" + (json === null ? "null" : typeof json) }, plain(JSON.stringify(json))), comma)];
  }
  const list = Array.isArray(json);
  const items = list ? json.map((/** @type {any} */ item, /** @type {number} */ i) => /** @type {[string, any]} */ ([String(i), item])) : Object.entries(json);
  const [start, end] = list ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return [h("div", { class: "json-line", key: path }, label, start + end + comma)];
  const folded = state.folded[path] ?? depth >= openDepth;
  const all = state.folded[path + " all"];
  const shown = all ? items : items.slice(0, maxItems);
  const toggle = h("button", {
    type: "button", class: "fold", "aria-expanded": String(!folded), "aria-label": plain(`${name ?? "value"}, ${items.length} items`),
    onclick: () => change(() => { state.folded[path] = !folded; }),
  }, folded ? "▸" : "▾");
  if (folded) return [h("div", { class: "json-line", key: path }, toggle, label, `${start} `, h("span", { class: "quiet" }, `${items.length}`), ` ${end}${comma}`)];
  return [
    h("div", { class: "json-line", key: path }, toggle, label, start),
    h("div", { class: "json-inner", key: path + " inner" },
      shown.map(([key, item], i) => node(item, path + "/" + key, depth + 1, i === items.length - 1, list ? undefined : key)),
      shown.length < items.length && h("button", { type: "button", class: "link", onclick: () => change(() => { state.folded[path + " all"] = true; }) }, `${items.length - shown.length} more`)),
    h("div", { class: "json-line", key: path + " end" }, end + comma),
  ];
}

// What a person reads of a difference, and what takes no time to find.
const maxDiffLines = 1200;
const context = 3;

/** diffLines shows what changed from one text to another. @param {string} before @param {string} after @returns {Child} */
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
  const lines = cutA.length * cutB.length > maxDiffLines * maxDiffLines
    ? [...cutA.slice(0, maxDiffLines).map((text) => ({ kind: "removed", text })), ...cutB.slice(0, maxDiffLines).map((text) => ({ kind: "added", text }))]
    : compare(cutA, cutB);
  const around = [...a.slice(Math.max(0, start - context), start).map((text) => ({ kind: "same", text })), ...lines,
    ...a.slice(a.length - end, a.length - end + context).map((text) => ({ kind: "same", text }))];
  return h("div", { class: "code diff", tabindex: "0", role: "group", "aria-label": "Difference" }, shorten(around).slice(0, maxDiffLines).map((line) => h("div", { class: line.kind },
    h("span", { "aria-hidden": "true" }, line.kind === "added" ? "+ " : line.kind === "removed" ? "− " : "  "),
    line.kind !== "same" && h("span", { class: "unseen" }, line.kind + ": "), plain(line.text))));
}

/** @typedef {{ kind: string, text: string }} Line */

/** compare finds the longest common lines. @param {string[]} a @param {string[]} b @returns {Line[]} */
function compare(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
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
    } else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) out.push({ kind: "removed", text: a[i++] });
    else out.push({ kind: "added", text: b[j++] });
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
