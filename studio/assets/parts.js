// Parts that several views share.

import { announce, badge, button, code, h, linkButton, list, plain, value } from "./dom.js";
import { go } from "./route.js";
import { after, change, state } from "./store.js";

/** viewHead says what a view shows, and what can be chosen.
 * @param {Child} title @param {Child} about @param {...Child} controls */
export const viewHead = (title, about, ...controls) => h("div", { class: "view-head" },
  h("h2", { id: "view-title", tabindex: "-1" }, title), h("p", { class: "quiet" }, about), controls);

/** whenSeen clicks on an element whenever it is scrolled to. @param {HTMLElement} node */
export const whenSeen = (node) => new IntersectionObserver((seen) => {
  if (seen.some((s) => s.isIntersecting)) node.click();
}).observe(node);

/** toggled keeps whether a part of the page is open. @param {string} id */
export const toggled = (id) => (/** @type {any} */ event) => {
  const now = event.target.open;
  if (now !== Boolean(state.unfolded[id])) change((state) => { state.unfolded[id] = now; });
};

/** fold is a part of the page that is closed at first. It stays as it is when what is in it changes.
 * @param {string} id @param {Child} summary @param {Child} content */
export const fold = (id, summary, content) => h("details", {
  class: "fold-part", id, key: id, open: Boolean(state.unfolded[id]), ontoggle: toggled(id),
}, h("summary", {}, summary), content);

/** failureBox says what is wrong and what to do.
 * @param {Failure} failure @param {string} id @param {Child} [actions] */
export const failureBox = (failure, id, actions) => h("div", { class: "banner bad", role: "alert", id, key: id },
  h("p", {}, h("strong", {}, plain(failure.detail))),
  failure.hint && h("p", {}, plain(failure.hint)),
  failure.findings && h("ul", { class: "findings" }, failure.findings.slice(0, 20).map((f) => h("li", {},
    findingText(f, f.line > 0 && h("span", { class: "quiet" }, `line ${f.line}`))))),
  actions);

/** findingText says what a finding is. @param {Finding} f @param {Child} line */
export const findingText = (f, line) => [
  h("p", { class: "finding-head" }, badge(f.severity, f.severity === "error" ? "bad" : "notable"), line,
    h("span", { class: "rule" }, f.rule)),
  h("p", {}, plain(f.message)),
  f.hint && h("p", { class: "hint" }, plain(f.hint)),
];

/** lineLink leads to the line of a finding: into the editor, or to the text that the page shows where there is no
 * such file.
 * @param {Source} s @param {Finding} f @param {string} [label] */
export function lineLink(s, f, label = `line ${f.line}`) {
  const scroll = () => document.getElementById("line-" + f.line)?.scrollIntoView({ block: "center" });
  if (f.line === 0) return null;
  if (!s.path || s.formatted) {
    return linkButton(() => {
      go({ view: "problems", source: s.id });
      after(scroll);
    }, plain(label));
  }
  const path = s.path.split(/[/\\]/).map(encodeURIComponent).join("/").replace(/^\//, "");
  const href = `vscode://file/${path}:${f.line}:${f.column}`;
  return h("a", { href, title: "Open in VS Code", onclick: scroll }, plain(label));
}

/** keys returns names of context keys as in a sentence. @param {string[]} names */
export const keys = (names) => list(names.map((name) => code(name)));

/** chip is a context key. @param {string} key @param {string} [kind] */
export const chip = (key, kind = "") => h("span", { class: ("chip " + kind).trim(), key: key + kind },
  kind === "lost" && h("span", { class: "unseen" }, "lost key: "), code(key),
  kind.includes("required") && h("span", { title: "required" }, "\u00a0●"));

/** Which copy button was pressed last, and how it went. */
let copied = { id: "", text: "" };

/** copyButton copies a text, and says so where its label is.
 * @param {string} id @param {() => string} text @param {string} label */
export function copyButton(id, text, label) {
  const said = copied.id === id ? copied.text : "";
  return button({
    class: "small copy", id, key: id,
    onclick: async () => {
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(text());
      } catch {
        done = "Not allowed";
      }
      announce(done);
      change((state) => { copied = { id, text: done }; });
      setTimeout(() => change((state) => { if (copied.id === id) copied = { id: "", text: "" }; }), 1500);
    },
  }, h("span", { class: said ? "off" : "" }, label),
    h("span", { class: said ? "" : "off", "aria-hidden": "true" }, said || "Copied"));
}

/** What an endpoint that does not answer for a feed has less of than the one that does. */
const lacks = {
  length: "covers less of the feed URL", literals: "covers as much of the feed URL but spells less of it out",
  order: "covers the feed URL in the same way but is declared later",
};

/** whyNot says why an endpoint does not answer for a feed. @param {Loser} other */
export const whyNot = (other) => ["Not ", value(other.name || other.url, "strong"), `, which ${lacks[other.reason]}`,
  other.lost_keys.length > 0 && [": the feed loses ", keys(other.lost_keys)], "."];

/** whyOther says why a feed belongs to another endpoint than the one that it was composed for.
 * @param {Match} match @param {Endpoint} e */
export const whyOther = ({ losers }, e) =>
  `this endpoint ${lacks[losers.find((other) => other.url === e.url)?.reason ?? "length"]}`;
