// The sidebar: all services with their endpoints, and with marks for what is wrong with them.

import { changesIn, choose, open, remove, update } from "./actions.js";
import { badge, byId, clock, count, h, lazy, plain, value } from "./dom.js";
import { more } from "./parts.js";
import { go } from "./route.js";
import { endpoint, lossesOf, marks, pathOf, serviceName, shortName, source, sources, version } from "./select.js";
import { within } from "./server.js";
import { after, change, state } from "./store.js";

/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").Version} Version */
/** @typedef {import("./types.js").Endpoint} Endpoint */
/** @typedef {import("./dom.js").Child} Child */

// So many rows are added at a time, when the end of the list is scrolled to: a browser lays them out without delay.
const page = 100;

/** How many rows of a list are shown. Another list begins at its top. */
let room = { of: "", n: page, found: 0 };

// From here on a filter helps.
const manyEndpoints = 8;

/** The words that each endpoint is found by. @type {WeakMap<Endpoint, string>} */
const known = new WeakMap();

/** @param {Endpoint} e */
function wordsOf(e) {
  let words = known.get(e);
  if (words === undefined) {
    const modifiers = e.modifiers.flatMap((m) => [m.name, ...m.params.map((p) => `${p.key} ${p.label}`)]);
    words = [e.name, e.url, ...e.context.map((item) => item.key), ...modifiers].join("\n").toLowerCase();
    known.set(e, words);
  }
  return words;
}

/** @param {Source} s @param {Version} v @param {Endpoint} e */
function isMarked(s, v, e) {
  const m = marks(s, v, e);
  return m.lost.length > 0 || m.problems > 0 || m.changes > 0 || m.differs;
}

export function sidebar() {
  const all = sources();
  const s = source();
  const v = s && version(s);
  const total = v?.endpoints.length ?? 0;
  const filtered = total >= manyEndpoints || state.route.filter !== "" || state.route.show !== "all";
  const markedOnes = s && v ? v.endpoints.filter((e) => isMarked(s, v, e)).length : 0;
  return h("nav", { class: "sidebar", "aria-label": "Services and endpoints", key: "sidebar" },
    s && h("div", { class: "service-facts", key: "facts" }, facts(s)),
    filtered && h("div", { class: "sidebar-filter", key: "filter" },
      h("input", {
        id: "filter", type: "search", placeholder: "Filter by name, URL or key", "aria-label": "Filter endpoints",
        value: state.route.filter,
        oninput: (/** @type {any} */ event) => go({ filter: event.target.value }, { replace: true }),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          focusRow(0);
        },
      }),
      (markedOnes > 0 || state.route.show !== "all") && h("button", {
        type: "button", class: "pill", "aria-pressed": String(state.route.show === "marked"),
        onclick: () => go({ show: state.route.show === "marked" ? "all" : "marked" }, { replace: true }),
      }, `Marked ${markedOnes}`)),
    h("ul", {
      id: "endpoints", role: "tree", class: "tree", "aria-label": "Endpoints", key: "tree", onkeydown: move, hidden: all.length === 0,
    }, all.map((other) => service(other, other === s))),
    moreRows(),
    h("p", { key: "register" }, h("button", {
      type: "button", class: "link", id: "register-button", "aria-haspopup": "dialog",
      onclick: () => change(() => { state.dialog = "register"; state.failures.register = null; }),
    }, "+ Register an address")));
}

const moreRows = () => room.found > room.n && more(room.found - room.n, () => grow(room.n + page));

/** grow shows more rows. @param {number} n */
const grow = (n) => change(() => { room.n = Math.max(room.n, n); });

/** service is a service, with its endpoints if it is the one that is looked at. @param {Source} s @param {boolean} chosen */
function service(s, chosen) {
  const unfolded = chosen && state.open["service:" + s.id] !== false;
  const toggle = () => {
    if (!s.judged) return;
    if (chosen) change(() => { state.open["service:" + s.id] = !unfolded; });
    else choose(s.id);
  };
  const v = chosen ? version(s) : undefined;
  return h("li", { key: s.id, role: "none", class: "service" + (chosen ? " chosen" : "") },
    h("div", {
      role: "treeitem", "aria-level": 1, "aria-expanded": s.judged ? String(unfolded) : undefined, "aria-selected": String(chosen && !v),
      tabindex: chosen && !(unfolded && v) ? "0" : "-1", class: "service-row", title: plain(s.name), "data-source": s.id,
      onclick: toggle, "aria-disabled": s.judged ? undefined : "true",
    },
    h("span", { class: "twisty", "aria-hidden": "true" }, s.judged ? (unfolded ? "▾" : "▸") : ""),
    value(serviceName(s), "service-name"), " ", serviceMarks(s)),
    unfolded && v && rows(s, v));
}

/** serviceMarks says what is wrong with a service, the worst first. @param {Source} s @returns {Child} */
function serviceMarks(s) {
  const lost = lossesOf(s);
  const errors = s.findings.filter((f) => f.severity === "error").length;
  if (!s.judged) return h("span", { class: "mark quiet" }, "overlap only");
  if (s.failure || state.failures["source:" + s.id]) return h("span", { class: "mark bad" }, s.kind === "address" ? "failed" : "not read");
  if (s.findings.length) return h("span", { class: "mark " + (errors ? "bad" : "notable") }, count(s.findings.length, "problem"));
  if (s.changes.length) {
    const kind = s.changes.some((c) => c.level === "breaking") ? "bad" : "notable";
    return h("span", { class: "mark " + kind }, count(s.changes.length, "change"));
  }
  return lost > 0 && h("span", { class: "mark bad" }, `${lost} with lost keys`);
}

/** facts are what there is to know about a service, and to do with it. @param {Source} s @returns {Child} */
function facts(s) {
  const busy = state.busy["source:" + s.id];
  const failed = state.failures["source:" + s.id] ?? s.failure;
  const updated = state.updated[s.id];
  const link = s.kind === "address" ? (/^https?:\/\//i.test(s.name) ? s.name : "") : version(s)?.route && within(version(s)?.route ?? "");
  return [
    h("p", { class: "row quiet" }, h("span", {}, value(s.kind === "example" ? "built-in example" : shortName(s))),
      link && h("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, "Manifest"),
      s.kind === "address" && h("button", { type: "button", class: "link", onclick: () => update(s.id) }, busy ? "Updating…" : "Update"),
      s.kind === "address" && h("button", { type: "button", class: "link", onclick: () => remove(s.id) }, "Remove")),
    s.kind === "address" && failed && h("p", { class: "failure", id: "update-failure" }, plain(failed.detail)),
    !failed && updated && h("p", { class: "row", id: "updated" }, h("span", { class: "quiet" }, `Updated ${clock(updated.at)}:`),
      updated.changes.length === 0 ? h("span", { class: "quiet" }, "nothing has changed") : h("button", {
        type: "button", class: "link bad", onclick: () => go({ view: "changes", base: "registered" }),
      }, changesIn(updated.changes))),
  ];
}

/** rows are the endpoints of a version. @param {Source} s @param {Version} v */
function rows(s, v) {
  const chosen = state.route.view === "preview" ? endpoint(v) : undefined;
  const words = state.route.filter.trim().toLowerCase();
  const kept = state.route.show === "marked";
  const found = v.endpoints.filter((e) => (words === "" || wordsOf(e).includes(words)) && (!kept || isMarked(s, v, e)));
  const of = [s.id, s.rev, v.name, words, kept].join("\n");
  if (room.of !== of) room = { of, n: page, found: 0 };
  room.found = found.length;
  if (chosen) room.n = Math.max(room.n, found.indexOf(chosen) + 1);
  const shown = found.slice(0, room.n);
  const focusable = chosen && shown.includes(chosen) ? chosen : shown[0];
  if (found.length === 0) {
    const none = v.endpoints.length === 0 ? "No endpoints yet." : "No endpoint matches.";
    return h("p", { class: "blank-line", role: "none", id: "endpoints-blank" }, none);
  }
  return lazy("ul", { role: "group", class: "rows-of", key: "rows" }, [s, v, words, kept, chosen, room.n, state.server.overlap],
    () => shown.map((e) => row(s, v, e, e === chosen, e === focusable)));
}

/** @param {Source} s @param {Version} v @param {Endpoint} e @param {boolean} chosen @param {boolean} focusable */
function row(s, v, e, chosen, focusable) {
  const m = marks(s, v, e);
  return h("li", {
    key: e.key, role: "treeitem", "aria-level": 2, "aria-selected": String(chosen), tabindex: focusable ? "0" : "-1", class: "endpoint-row",
    title: plain(e.url), "data-key": e.key,
    onclick: () => open({ source: s.id, version: v.name, key: e.key, name: e.name, url: e.url }),
  },
  h("span", { class: "row" }, value(e.name, "name"), " ", e.method === "post" && badge("POST", "post"),
    m.lost.length > 0 && h("span", { class: "mark bad", title: plain(`Feeds here lose ${m.lost.join(", ")}`) },
      `${count(m.lost.length, "key")} lost`),
    m.lost.length === 0 && m.problems > 0 && h("span", { class: "mark " + (m.errors ? "bad" : "notable") },
      count(m.problems, "problem")),
    m.problems + m.lost.length === 0 && m.changes > 0 && h("span", { class: "mark notable" }, "changed"),
    m.differs && h("span", { class: "mark notable", title: "Another manifest declares this URL differently" }, "declared twice"),
    e.deprecated && h("span", { class: "mark quiet", title: plain(e.deprecated) }, "deprecated")),
  h("span", { class: "where" }, value(pathOf(e))));
}

const treeItems = "#endpoints [role='treeitem']:not([aria-disabled])";
const items = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(treeItems)]);

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
  if (i < 0) return;
  const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: Infinity, PageDown: i + 10, PageUp: i - 10 }[event.key];
  const unfolded = all[i].ariaExpanded;
  if (to !== undefined) {
    event.preventDefault();
    const hidden = room.found - Math.min(room.n, room.found);
    if (to >= all.length && hidden > 0) {
      grow(room.n + (to === Infinity ? hidden : page));
      after(() => focusRow(to));
    } else {
      focusRow(to);
    }
  } else if (event.key === "Enter" || event.key === " " || (event.key === "ArrowRight" && unfolded !== "true")
    || (event.key === "ArrowLeft" && unfolded === "true")) {
    event.preventDefault();
    all[i].click();
    after(() => (event.key === "ArrowRight" && unfolded === null ? byId("endpoint-name") : items()[i])?.focus());
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const begins = (/** @type {HTMLElement} */ node) => node.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase());
    const next = [...all.slice(i + 1), ...all.slice(0, i + 1)].find(begins);
    if (next) focusRow(all.indexOf(next));
  }
}
