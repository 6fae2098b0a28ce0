// The changes of a source against a base that can be chosen.

import { accept, loadChanges, open } from "./actions.js";
import { badge, byId, count, h, plain, value } from "./dom.js";
import { failureBox } from "./parts.js";
import { go } from "./route.js";
import { source, version } from "./select.js";
import { state } from "./store.js";

/** @typedef {import("./types.js").Change} Change */

const levels = /** @type {Record<string, string>} */ ({ breaking: "bad", notable: "notable", compatible: "good" });
const maxChanges = 300;

export function changesView() {
  const s = source();
  if (!s) return null;
  const { base, of } = state.route;
  if (base !== "registered") loadChanges();
  const v = version(s);
  const others = s.versions.filter((other) => other !== v);
  const result = base === "registered" ? { changes: s.changes, failure: null } : state.changes;
  const waiting = !result && !(base === "git" && !of);
  const bases = [
    { value: "registered", label: s.kind === "address" ? "when it was registered" : "when the studio was opened" },
    { value: "previous", label: s.kind === "address" ? "the fetch before" : "the text before the last save" },
    ...others.map((other) => ({ value: "version:" + other.name, label: `version ${other.name}` })),
    ...(state.server.git && s.path ? [{ value: "git", label: "a git revision" }] : []),
  ];
  const chosen = base === "version" ? "version:" + of : base;
  return h("div", { class: "view changes-view" },
    h("div", { class: "view-head" },
      h("h2", { id: "view-title", tabindex: "-1" }, "Changes"),
      h("p", { class: "quiet" }, "What they mean to studios, editors and apps that know the base."),
      h("div", { class: "row" },
        h("label", { for: "base" }, "Compared with"),
        h("select", { id: "base", value: chosen, onchange: (/** @type {any} */ event) => choose(event.target.value) }, bases.map((b) => h("option", { key: b.value, value: b.value }, plain(b.label)))),
        base === "git" && h("form", { class: "row", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); setRevision(); } },
          h("label", { for: "revision", class: "unseen" }, "Git revision"),
          h("input", { id: "revision", type: "text", placeholder: "HEAD~1", spellcheck: "false", size: 14, created: (/** @type {HTMLInputElement} */ node) => { node.value = of; }, onchange: setRevision })),
        base === "registered" && s.since && h("span", { class: "quiet" }, new Date(s.since).toLocaleString()),
        base === "registered" && s.changes.length > 0 && h("button", { type: "button", id: "accept", onclick: () => accept(s.id) }, "Accept"))),
    state.failures.changes && failureBox(state.failures.changes, "changes-failure"),
    result?.failure && failureBox(result.failure, "changes-failure"),
    waiting && h("p", { class: "blank-line" }, "Comparing…"),
    base === "git" && !of && h("p", { class: "blank-line" }, "Enter a revision, such as main or HEAD~1."),
    result && !result.failure && !(base === "git" && !of) && show(result.changes, s.id));
}

/** @param {string} chosen */
function choose(chosen) {
  const [base, of = ""] = chosen.split(":");
  go({ base, of }, { replace: true });
  if (base === "git") setTimeout(() => byId("revision")?.focus(), 0);
}

function setRevision() {
  go({ of: /** @type {HTMLInputElement} */ (byId("revision")).value.trim() }, { replace: true });
}

/** @param {Change[]} changes @param {string} id */
function show(changes, id) {
  if (changes.length === 0) return h("p", { class: "blank", id: "changes-none" }, "Nothing has changed.");
  const order = Object.keys(levels);
  const sorted = [...changes].sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
  const totals = order.map((level) => [level, changes.filter((c) => c.level === level).length]).filter(([, n]) => n);
  return [
    h("p", { class: "row", key: "totals" }, totals.map(([level, n]) => badge(`${n} ${level}`, levels[/** @type {string} */ (level)]))),
    h("ul", { class: "changes", id: "changes-list", key: "list" }, sorted.slice(0, maxChanges).map((c, i) => h("li", { key: i },
      h("p", { class: "finding-head" }, badge(c.level, levels[c.level]), c.version && badge(c.version), h("span", { class: "rule" }, c.rule)),
      h("p", {}, plain(c.message)),
      c.endpoint && h("p", { class: "url quiet" }, c.key
        ? h("button", { type: "button", class: "link", onclick: () => open({ source: id, version: c.version, key: c.key, name: "", url: c.endpoint }) }, value(c.endpoint))
        : value(c.endpoint))))),
    changes.length > maxChanges && h("p", { class: "blank-line", key: "more" }, `And ${count(changes.length - maxChanges, "more change")}.`),
  ];
}
