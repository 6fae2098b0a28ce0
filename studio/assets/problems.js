// The problems, beside the text that they are about.

import { applyFix, loadText } from "./actions.js";
import { address, button, count, h, lazy, plain } from "./dom.js";
import { copyButton, failureBox, findingText, fold, lineLink, viewHead } from "./parts.js";
import { state } from "./store.js";
import { summary } from "./sync.js";

// A browser lays out so many lines at once without delay.
const maxLines = 3000;
const maxFindings = 500;

/** @param {Source} s */
export function problemsView(s) {
  const text = loadText(s.id)?.text;
  const clean = s.findings.length === 0;
  // The same finding on several endpoints differs in what it quotes.
  const groups = [...Map.groupBy(s.findings, (f) => f.rule + f.severity + f.message.replace(/"[^"]*"/g, "")).values()];
  return h("div", { class: "view problems-view" + (clean ? " clean" : ""), key: "problems" },
    viewHead(["Problems ", h("span", { class: "quiet", id: "problems-summary" }, clean ? "" : summary(s.findings))],
      explanation(s, clean)),
    state.failures.fix && failureBox(state.failures.fix, "fix-failure"),
    h("div", { class: "split" },
      !clean && h("ul", { class: "findings", id: "problems-list" },
        groups.slice(0, maxFindings).map((same, i) =>
          h("li", { key: i }, same.length > 1 ? several(s, same) : item(s, same[0]))),
        groups.length > maxFindings && h("li", { key: "more" }, `And ${groups.length - maxFindings} more.`)),
      text && lazy("div", {
        class: "code text", tabindex: "0", role: "group", "aria-label": plain(`Text of ${s.id}`), key: "text",
      }, [text, s.findings], () => lines(text, s.findings))));
}

/** @param {Source} s @param {boolean} clean */
function explanation(s, clean) {
  if (clean) {
    return [h("span", { class: "good" }, "✓ No problems."), s.kind === "example"
      && [" To check a file of yours, run ", h("code", {}, "signpost studio feeds.yaml"), "."]];
  }
  if (s.kind === "address") return "What lint finds in the manifest at this address.";
  return "What lint finds in this file. Fix it and save; this page reloads automatically.";
}

/** @param {Source} s @param {Finding} f */
const item = (s, f) => [findingText(f, lineLink(s, f)), actions(s, f)];

/** actions are what can be done about a finding in a file. @param {Source} s @param {Finding} f */
const actions = (s, f) => s.path && !s.formatted && f.line > 0 && h("p", { class: "row" },
  f.fix && button({ class: "small", onclick: () => applyFix(s.id, f) }, "Apply: ", plain(f.fix.message)),
  copyButton(`copy-place-${f.line}-${f.column}-${f.rule}`, () => `${s.path}:${f.line}:${f.column}`,
    "Copy path and line"));

/** several is a finding in several places: the first, and where the others are.
 * @param {Source} s @param {Finding[]} same */
function several(s, same) {
  const places = new Set(same.map((f) => f.key)).size;
  const id = `places-${same[0].rule}-${same[0].line}`;
  return [
    findingText(same[0], h("strong", {}, places > 1 ? count(places, "endpoint") : count(same.length, "place"))),
    fold(id, "Where", state.unfolded[id]
      && h("ul", { class: "where-all" }, same.slice(0, maxFindings).map((f, i) => h("li", { key: i },
      h("p", { class: "row" }, lineLink(s, f), address(f.key)),
      f.message !== same[0].message && h("p", { class: "quiet" }, plain(f.message)),
      actions(s, f))))),
  ];
}

/** lines shows the text with the places of the findings marked. @param {string} text @param {Finding[]} findings */
function lines(text, findings) {
  const marks = Map.groupBy(findings, (f) => f.line);
  const all = text.split("\n");
  return [
    all.slice(0, maxLines).map((line, i) => {
      const own = marks.get(i + 1);
      const kind = own ? (own.some((f) => f.severity === "error") ? " error" : " warning") : "";
      return h("div", { class: "text-line" + kind, id: own ? `line-${i + 1}` : undefined },
        h("span", { class: "number", "aria-hidden": "true" }, i + 1),
        h("span", {}, own ? marked(line, own) : plain(line.slice(0, 2000)) || " "),
        own && own.map((f) => h("span", { class: "note" }, plain(f.message))));
    }),
    all.length > maxLines && h("p", { class: "blank-line" }, `${all.length - maxLines} more lines.`),
  ];
}

/** @param {string} line @param {Finding[]} own */
function marked(line, own) {
  const characters = [...line];
  const at = Math.max(0, own[0].column - 1);
  const width = own[0].width;
  const part = (/** @type {number} */ from, /** @type {number} */ to) => characters.slice(from, to).join("");
  return [plain(part(0, at).slice(-2000)), h("mark", {}, plain(part(at, at + width)) || " "),
    plain(part(at + width, characters.length).slice(0, 2000))];
}

