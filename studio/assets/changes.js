// The changes of a source against a base that can be chosen.

import { accept, loadChanges, open } from "./actions.js";
import { address, badge, button, byId, choice, count, h, linkButton, plain } from "./dom.js";
import { failureBox, viewHead } from "./parts.js";
import { go } from "./route.js";
import { keyOf, version } from "./select.js";
import { after, state } from "./store.js";

const levels = /** @type {Record<string, string>} */ ({ breaking: "bad", notable: "notable", compatible: "good" });
const maxChanges = 300;
const maxPlaces = 20;

/** @param {Source} s */
export function changesView(s) {
  const { base, of } = state.route;
  const v = version(s);
  const others = s.versions.filter((other) => other !== v);
  const result = base === "registered" ? { changes: s.changes, failure: undefined } : loadChanges(s.id);
  const waiting = !result && !(base === "git" && !of);
  const bases = [
    ["registered", s.kind === "address" ? "its state when it was registered" : "its state when the studio started"],
    ["previous", s.kind === "address" ? "its state at the previous fetch" : "its state before the last save"],
    ...others.map((other) => ["version:" + other.name, `version ${other.name}`]),
    ...(s.path ? [["git", "a git revision"]] : []),
  ];
  return h("div", { class: "view changes-view", key: "changes" },
    viewHead("Changes",
      base === "version" && v ? [
        `What moving from ${plain(of)} to ${plain(v.name)} changes for studios, editors and apps. `,
        linkButton(() => go({ version: of, of: v.name, endpoint: "" }, { replace: true }), `From ${plain(v.name)} to ${plain(of)} instead`),
      ] : "What changes for studios, editors and apps that already use this manifest.",
      h("div", { class: "row" },
        h("label", { for: "base" }, "Compared with"),
        choice({ id: "base", value: base === "version" ? "version:" + of : base }, choose, bases),
        base === "git" && h("form", { class: "row", onsubmit: setRevision },
          h("label", { for: "revision", class: "unseen" }, "Git revision"),
          h("input", {
            id: "revision", type: "text", placeholder: "HEAD~1", spellcheck: "false", size: 14, onchange: setRevision,
            created: (/** @type {HTMLInputElement} */ node) => { node.value = of; },
          })),
        base === "registered" && s.since && h("span", { class: "quiet" }, new Date(s.since).toLocaleString()),
        base === "registered" && s.changes.length > 0
          && button({ id: "accept", onclick: () => accept(s.id) }, "Accept"))),
    state.failures.changes && failureBox(state.failures.changes, "changes-failure"),
    result?.failure && failureBox(result.failure, "changes-failure"),
    waiting && h("p", { class: "blank-line" }, "Comparing…"),
    base === "git" && !of && h("p", { class: "blank-line" }, "Enter a revision, such as main or HEAD~1."),
    result?.changes && show(result.changes, s));
}

/** @param {string} chosen */
function choose(chosen) {
  const [base, of = ""] = chosen.split(":");
  go({ base, of }, { replace: true });
  if (base === "git") after(() => byId("revision")?.focus());
}

function setRevision() {
  go({ of: /** @type {HTMLInputElement} */ (byId("revision")).value.trim() }, { replace: true });
}

/** @param {Change[]} changes @param {Source} s */
function show(changes, s) {
  if (changes.length === 0) return h("p", { class: "blank", id: "changes-none" }, "Nothing has changed.");
  const order = Object.keys(levels);
  const sorted = [...changes].sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
  // The same change of several endpoints is one row.
  const groups = [...Map.groupBy(sorted, (c) => JSON.stringify([c.level, c.rule, c.message])).values()];
  const totals = order.map((level) => [level, changes.filter((c) => c.level === level).length]).filter(([, n]) => n);
  return [
    h("p", { class: "row", key: "totals" }, totals.map(([level, n]) => badge(`${n} ${level}`, levels[/** @type {string} */ (level)]))),
    h("ul", { class: "rows", id: "changes-list", key: "list" }, groups.slice(0, maxChanges).map((same, i) => {
      const [c] = same;
      return h("li", { key: i }, badge(c.level, levels[c.level]),
        h("div", { class: "stack" },
          h("p", {}, plain(c.message),
            same.length > 1 && ` (${count(same.length, "endpoint")})`, " ", h("span", { class: "rule" }, c.rule)),
          same.slice(0, maxPlaces).map((one) => one.endpoint && h("p", {}, place(s, one))),
          same.length > maxPlaces && h("p", { class: "quiet" }, `and ${same.length - maxPlaces} more`)));
    })),
    groups.length > maxChanges && h("p", { class: "blank-line", key: "more" }, `And ${count(groups.length - maxChanges, "more change")}.`),
  ];
}

/** place is the endpoint that has changed, which can be opened if it is still there. @param {Source} s @param {Change} c */
function place(s, { version: name, endpoint: url }) {
  const key = keyOf(s, name, url);
  if (key === undefined) return address(url, "quiet");
  return linkButton(() => open({ source: s.id, version: name, key }), address(url));
}
