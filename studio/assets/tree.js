// The tree of endpoints by path, with marks for what is wrong with them.

import { open } from "./actions.js";
import { badge, byId, count, h, lazy, plain, value } from "./dom.js";
import { more } from "./parts.js";
import { go } from "./route.js";
import { nestingOf, pathOf, riskOf } from "./select.js";
import { change, state } from "./store.js";

/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").Version} Version */
/** @typedef {import("./types.js").Endpoint} Endpoint */
/** @typedef {{ endpoint: Endpoint, level: number, risk: ReturnType<typeof riskOf>, words: string }} Row */

// So many rows are added at a time, when the end of the list is scrolled to: a browser lays them out without delay.
const page = 100;

/** How many rows of a list are shown. Another list begins at its top. */
let room = { of: "", rows: /** @type {unknown} */ (null), n: page, found: 0 };

/** The rows of a version, which are the same until the server has another revision. */
let known = { source: /** @type {Source | null} */ (null), version: "", overlap: /** @type {unknown} */ (null), rows: /** @type {Row[]} */ ([]) };

/** rowsOf returns the endpoints, each below the one that its URL begins with. @param {Source} s @param {Version} v */
function rowsOf(s, v) {
  if (known.source === s && known.version === v.name && known.overlap === state.server.overlap) return known.rows;
  /** @type {Map<string, Endpoint[]>} */
  const children = new Map();
  const own = new Map(v.endpoints.map((e) => [e.key, e]));
  for (const e of v.endpoints) {
    const above = nestingOf(s, v, e)?.under.find((other) => other.source === s.id && other.version === v.name && own.has(other.key));
    const key = above && above.reason !== "order" ? above.key : "";
    const siblings = children.get(key);
    if (siblings) siblings.push(e);
    else children.set(key, [e]);
  }
  /** @type {Row[]} */
  const rows = [];
  const seen = new Set();
  const add = (/** @type {string} */ key, /** @type {number} */ level) => {
    for (const e of children.get(key) ?? []) {
      if (seen.has(e.key)) continue;
      seen.add(e.key);
      const words = [e.name, e.url, ...e.context.map((item) => item.key), ...e.modifiers.flatMap((m) => [m.name, ...m.params.map((p) => `${p.key} ${p.label}`)])];
      rows.push({ endpoint: e, level, risk: riskOf(s, v, e), words: words.join("\n").toLowerCase() });
      add(e.key, level + 1);
    }
  };
  add("", 1);
  known = { source: s, version: v.name, overlap: state.server.overlap, rows };
  return rows;
}

const kinds = /** @type {Record<string, (row: Row) => boolean>} */ ({
  all: () => true,
  modifiers: ({ endpoint }) => endpoint.modifiers.length > 0,
  login: ({ endpoint }) => endpoint.context.some((item) => item.required),
  risk: ({ risk }) => risk.lost.length > 0 || risk.findings > 0 || risk.differs,
});
const kindNames = /** @type {Record<string, string>} */ ({ all: "All", modifiers: "With modifiers", login: "Required keys", risk: "At risk" });

// From here on a filter helps.
const manyEndpoints = 8;

/** tree is the first pane. @param {Source} s @param {Version} v @param {Endpoint | undefined} chosen */
export function tree(s, v, chosen) {
  const rows = rowsOf(s, v);
  const words = rows.length >= manyEndpoints || state.route.filter ? state.route.filter.trim().toLowerCase() : "";
  const kind = kinds[state.route.show] ?? kinds.all;
  const found = rows.filter((row) => kind(row) && row.words.includes(words));
  const of = words + "\n" + state.route.show;
  if (room.of !== of || room.rows !== rows) room = { of, rows, n: page, found: found.length };
  room.n = Math.max(room.n, found.findIndex((row) => row.endpoint === chosen) + 1);
  const shown = found.slice(0, room.n);
  const focusable = shown.some((row) => row.endpoint === chosen) ? chosen : shown[0]?.endpoint;
  return h("section", { class: "pane list", "aria-labelledby": "endpoints-title", key: "list" },
    h("div", { class: "pane-head" },
      h("h2", { id: "endpoints-title" }, "Endpoints ", h("span", { class: "quiet" }, rows.length)),
      rows.length >= manyEndpoints && h("input", {
        id: "filter", type: "search", placeholder: "Filter by name, URL or key", "aria-label": "Filter endpoints", value: state.route.filter,
        oninput: (/** @type {any} */ event) => go({ filter: event.target.value }, { replace: true }),
        onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "ArrowDown") { event.preventDefault(); focusRow(0); } },
      }),
      rows.length > 3 && h("div", { class: "row chips", role: "group", "aria-label": "Show" }, Object.keys(kinds).map((name) => {
        const n = name === "all" ? rows.length : rows.filter(kinds[name]).length;
        return (n > 0 || state.route.show === name) && h("button", {
          key: name, type: "button", class: "pill", "aria-pressed": String(state.route.show === name), onclick: () => go({ show: name }, { replace: true }),
        }, `${kindNames[name]} ${n}`);
      }))),
    lazy("ul", {
      id: "endpoints", role: "tree", class: "tree", "aria-labelledby": "endpoints-title", key: "tree", onkeydown: move, hidden: shown.length === 0,
    }, [rows, words, state.route.show, chosen, s, v, room.n], () => shown.map((row) => item(s, v, row, row.endpoint === chosen, row.endpoint === focusable))),
    found.length > shown.length && more(found.length - shown.length, () => grow(room.n + page)),
    h("p", { class: "blank-line", id: "endpoints-blank", hidden: shown.length > 0 }, rows.length === 0 ? "" : "No endpoint matches."));
}

/** grow shows more rows. @param {number} n */
const grow = (n) => change(() => { room.n = Math.max(room.n, n); });

/** @param {Source} s @param {Version} v @param {Row} row @param {boolean} chosen @param {boolean} focusable */
function item(s, v, { endpoint: e, level, risk }, chosen, focusable) {
  return h("li", {
    key: e.key, role: "treeitem", "aria-level": level, "aria-selected": String(chosen), tabindex: focusable ? "0" : "-1", class: `level-${Math.min(level, 6)}`, title: plain(e.url),
    onclick: () => choose(s, v, e), "data-key": e.key,
  },
  h("span", { class: "row" }, value(e.name, "name"), badge(e.method.toUpperCase(), e.method === "post" ? "post" : "get")),
  h("span", { class: "where" }, value(pathOf(e))),
  (risk.lost.length > 0 || risk.findings > 0 || risk.changes > 0 || risk.differs || e.deprecated) && h("span", { class: "row marks" },
    risk.lost.length > 0 && badge(`−${count(risk.lost.length, "key")}`, "bad", `Feeds here lose ${risk.lost.join(", ")}`),
    risk.findings > 0 && badge(count(risk.findings, "finding"), "notable"),
    risk.changes > 0 && badge("changed", "", count(risk.changes, "change")),
    e.deprecated && badge("deprecated", "notable", e.deprecated),
    risk.differs && badge("declared twice", "notable", "Another manifest declares this URL differently")));
}

/** @param {Source} s @param {Version} v @param {Endpoint} e */
function choose(s, v, e) {
  open({ source: s.id, version: v.name, key: e.key, name: e.name, url: e.url });
}

const items = () => /** @type {HTMLElement[]} */ ([...(byId("endpoints")?.children ?? [])]);

/** @param {number} i */
function focusRow(i) {
  const all = items();
  const target = all[Math.max(0, Math.min(i, all.length - 1))];
  for (const node of all) node.tabIndex = node === target ? 0 : -1;
  target?.focus();
}

/** move is what keys do in the tree. @param {KeyboardEvent} event */
function move(event) {
  const all = items();
  const i = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: Infinity, PageDown: i + 10, PageUp: i - 10 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    if (to < all.length || all.length === room.found) {
      focusRow(to);
    } else {
      grow(to + 1);
      setTimeout(() => focusRow(to), 0); // when the rows are there
    }
  } else if (event.key === "Enter" || event.key === " " || event.key === "ArrowRight") {
    event.preventDefault();
    all[i]?.click();
    setTimeout(() => (event.key === "ArrowRight" ? byId("endpoint-name") : items()[i])?.focus(), 5);
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const next = [...all.slice(i + 1), ...all.slice(0, i + 1)].find((node) => node.textContent?.toLowerCase().startsWith(event.key.toLowerCase()));
    if (next) focusRow(all.indexOf(next));
  }
}

