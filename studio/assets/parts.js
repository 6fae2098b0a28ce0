// Parts that several views share.

import { announce, badge, code, h, list, plain, plainLines, value } from "./dom.js";
import { change, state } from "./store.js";

/**
 * segments is a group of radio buttons that looks like one control.
 * @param {string} id
 * @param {string} label
 * @param {{ value: string, label: string, checked: boolean, onchoose: () => void }[]} options
 * @param {Record<string, any>} [props]
 */
export const segments = (id, label, options, props = {}) => h("fieldset", { class: "segments", id, ...props },
  h("legend", { class: "unseen" }, plain(label)),
  options.map((option) => h("label", { key: option.value },
    h("input", { type: "radio", name: id, value: option.value, checked: option.checked, onchange: option.onchoose }),
    h("span", {}, plain(option.label)))));

/**
 * more is what a long list ends with: it shows the next part when it is scrolled to, or pressed.
 * @param {number} left
 * @param {() => void} grow
 */
export const more = (left, grow) => h("p", { class: "more-rows", key: "more" },
  h("button", { type: "button", class: "link", onclick: grow, created: whenSeen }, `${left} more`));

/** whenSeen clicks on an element whenever it is scrolled to. @param {HTMLElement} node */
export const whenSeen = (node) => new IntersectionObserver((seen) => {
  if (seen.some((s) => s.isIntersecting)) node.click();
}).observe(node);

/**
 * fold is a part of the page that is closed at first. It stays as it is when what is in it changes.
 * @param {string} id
 * @param {Child} summary
 * @param {Child} content
 */
export const fold = (id, summary, content) => h("details", {
  class: "fold-part", id, key: id, open: Boolean(state.open[id]),
  ontoggle: (/** @type {any} */ event) => {
    const now = event.target.open;
    if (now !== Boolean(state.open[id])) change(() => { state.open[id] = now; });
  },
}, h("summary", {}, summary), content);

/**
 * failureBox says what is wrong and what to do.
 * @param {Failure} failure
 * @param {string} [id]
 * @param {Child} [actions]
 */
export const failureBox = (failure, id, actions) => h("div", { class: "banner bad", role: "alert", id, key: id },
  h("p", {}, h("strong", {}, plain(failure.detail))),
  failure.hint && h("p", {}, plain(failure.hint)),
  (failure.findings?.length ?? 0) > 0 && h("ul", { class: "findings" },
    (failure.findings ?? []).slice(0, 20).map((f) => h("li", {},
      findingText(f, f.line > 0 && h("span", { class: "quiet" }, `line ${f.line}`))))),
  actions);

/** findingText says what a finding is. @param {Finding} f @param {Child} line */
export const findingText = (f, line) => [
  h("p", { class: "finding-head" }, badge(f.severity, f.severity === "error" ? "bad" : "notable"), line,
    h("span", { class: "rule" }, f.rule)),
  h("p", {}, plain(f.message)),
  f.hint && h("p", { class: "hint" }, plain(f.hint)),
];

/** keys returns names of context keys as in a sentence. @param {string[]} names */
export const keys = (names) => list(names.map((name) => code(name)));

/** Which copy button was pressed last, and how it went. */
let copied = { id: "", text: "" };

/** copyButton copies a text, and says so where its label is. @param {string} id @param {() => string} text @param {string} [label] */
export function copyButton(id, text, label = "Copy") {
  const said = copied.id === id ? copied.text : "";
  return h("button", {
    type: "button", class: "small copy", id, key: id,
    onclick: async () => {
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(text());
      } catch {
        done = "Not allowed";
      }
      announce(done);
      change(() => { copied = { id, text: done }; });
      setTimeout(() => change(() => { if (copied.id === id) copied = { id: "", text: "" }; }), 1500);
    },
  }, h("span", { class: said ? "off" : "" }, label), h("span", { class: said ? "" : "off", "aria-hidden": "true" }, said || "Copied"));
}

/** bodyText is a text from outside with its lines. @param {string} text @param {string} label */
export const bodyText = (text, label) => h("pre", { class: "code wrap body", tabindex: "0", "aria-label": label },
  plainLines(text.slice(0, maxRaw)) + (text.length > maxRaw ? "\n…" : ""));

// More of a body that is not JSON is not shown at once.
const maxRaw = 100000;

/**
 * urlTokens returns a URL with its parts marked: placeholders, the keys and the values of its query.
 * @param {string} url
 * @param {((name: string) => void) | null} fill what a click on an open placeholder does
 */
export function urlTokens(url, fill) {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const [, scheme = "", authority = "", rest = path] = /^([a-z][a-z0-9+.-]*:\/\/)([^/]*)(.*)$/is.exec(path) ?? [];
  /** @type {Child[]} */
  const parts = [h("span", { class: "quiet" }, plain(scheme)), h("strong", {}, plain(authority)), placeholders(rest, fill, /(?=\/)/)];
  if (end < 0) return parts;
  const [query, ...fragment] = url.slice(end).split("#");
  query.split(/(?=[?&])/).forEach((pair) => {
    const [name, ...text] = pair.slice(1).split("=");
    const whole = text.join("=");
    parts.push(h("wbr"), plain(pair.slice(0, 1)), h("span", { class: "key" }, placeholders(name, fill)));
    if (pair.includes("=")) parts.push("=", h("span", { class: name === "ctx" ? "quiet" : "" }, placeholders(whole, fill)));
  });
  if (fragment.length) parts.push(h("span", { class: "quiet" }, plain("#" + fragment.join("#"))));
  return parts;
}

/**
 * @param {string} text
 * @param {((name: string) => void) | null} fill
 * @param {RegExp} [breaks] where a line may end
 * @returns {Child[]}
 */
function placeholders(text, fill, breaks) {
  return text.split(/(\{\{[^{}]*\}\})/).map((part) => {
    if (!/^\{\{[^{}]*\}\}$/.test(part)) return breaks ? part.split(breaks).map((piece) => [h("wbr"), plain(piece)]) : plain(part);
    const name = part.slice(2, -2);
    if (!fill) return h("span", { class: "open" }, plain(part));
    return h("button", { type: "button", class: "open", "aria-label": plain(`Fill in ${name}`), onclick: () => fill(name) }, plain(part));
  });
}

/** What an endpoint that does not answer for a feed has less of than the one that does. */
const lacks = {
  length: "covers less of the feed URL", literals: "covers as much of the feed URL but spells less of it out",
  order: "covers the feed URL in the same way but is declared later",
};

/** whyNot says why an endpoint does not answer for a feed. @param {Loser} other */
export const whyNot = (other) => ["Not ", value(other.name || other.url, "strong"), `, which ${lacks[other.reason]}`,
  other.lost_keys.length > 0 && [": the feed loses ", keys(other.lost_keys)], "."];

/** whyOther says why a feed belongs to another endpoint than the one that it was composed for. @param {Match} match @param {Endpoint} e */
export const whyOther = ({ losers }, e) => `this endpoint ${lacks[losers.find((other) => other.url === e.url)?.reason ?? "length"]}`;
