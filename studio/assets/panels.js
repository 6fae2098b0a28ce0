// The panels beside the endpoint: findings, changes, and which endpoint answers for a feed.

import { badge, byId, clock, code, count, el, fill, plain, show, value } from "./dom.js";

const maxShown = 200; // of findings or changes: who has more begins with these

// findingItems returns findings, each with the part of the line that it is about.
export function findingItems(findings) {
  const items = findings.slice(0, maxShown).map((f) => {
    const text = Array.from(f.text); // by characters, as the server counts
    return el("li", { class: f.severity },
      el("p", { class: "finding-head" }, badge(f.severity, f.severity === "error" ? "bad" : "notable"),
        el("span", { class: "rule" }, f.rule), el("span", { class: "place" }, `line ${f.line}:${f.column}`)),
      el("p", {}, plain(f.message)),
      text.length > 0 && el("pre", { class: "code snippet", tabindex: "0", role: "group", "aria-label": `Line ${f.line}` },
        plain(text.slice(0, f.at).join("")), el("mark", {}, plain(text.slice(f.at, f.at + f.width).join("")) || " "),
        plain(text.slice(f.at + f.width).join(""))),
      f.hint && el("p", { class: "hint" }, "Hint: ", plain(f.hint)));
  });
  if (findings.length > maxShown) items.push(el("li", {}, `And ${findings.length - maxShown} more.`));
  return items;
}

// summary says how many findings there are.
export function summary(findings) {
  const errors = findings.filter((f) => f.severity === "error").length;
  const warnings = findings.length - errors;
  if (findings.length === 0) return "No findings";
  return [errors && count(errors, "error"), warnings && count(warnings, "warning")].filter(Boolean).join(", ");
}

export function showFindings(source) {
  const { findings } = source;
  const chip = byId("findings-chip");
  chip.className = "chip " + (findings.some((f) => f.severity === "error") ? "bad" : findings.length ? "notable" : "good");
  chip.textContent = summary(findings);
  fill(byId("findings-list"), findingItems(findings));
  for (const mark of byId("findings-list").querySelectorAll("mark")) {
    mark.parentElement.scrollLeft = mark.offsetLeft - mark.parentElement.offsetLeft - 60;
  }
  byId("findings-blank").textContent = {
    address: "Nothing is wrong with this manifest.",
    example: "Nothing is wrong with this definition. For one of yours: signpost studio feeds.yaml",
    file: "Nothing is wrong with this file. Save a change, and this page follows.",
  }[source.kind];
  show(byId("findings-blank"), findings.length === 0);
}

// showChanges shows what has changed; where nothing has, only if somebody has just asked.
export function showChanges(source, asked) {
  const { changes } = source;
  show(byId("changes"), changes.length > 0 || asked);
  const since = source.kind === "address" ? "Since it was fetched before" : "Since the studio was opened";
  byId("changes-since").textContent = changes.length > 0
    ? `${since}, for those who registered it then.` : `Nothing has changed. Fetched at ${clock(source.read)}.`;
  const kinds = { breaking: "bad", notable: "notable", compatible: "good" };
  const levels = Object.keys(kinds);
  const sorted = changes.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const items = sorted.slice(0, maxShown).map((c) => el("li", {},
    el("p", { class: "finding-head" }, badge(c.level, kinds[c.level]), c.version && badge(c.version), el("span", { class: "rule" }, c.rule)),
    el("p", {}, plain(c.message)),
    c.endpoint && el("p", { class: "url quiet" }, value(c.endpoint))));
  if (changes.length > maxShown) items.push(el("li", {}, `And ${changes.length - maxShown} more.`));
  fill(byId("changes-list"), items);
}

// showMatch shows the endpoint that answers for a feed, with a way to it.
export function showMatch(match, sourceName, open) {
  if (!match) {
    fill(byId("match-result"), el("p", { class: "answerer none" },
      "No endpoint answers: scheme, host and path of the feed must begin as those of an endpoint. It gets no context keys."));
    return;
  }
  const keys = match.context_obj.map((item) => item.key);
  fill(byId("match-result"),
    el("p", { class: "answerer" }, el("button", { type: "button", class: "link strong", onclick: open }, plain(match.name)),
      match.version && badge(match.version), sourceName && el("span", { class: "rule" }, plain(sourceName))),
    el("p", { class: "url quiet" }, value(match.endpoint)),
    el("p", {}, keys.length ? ["It gets ", list(keys), "."] : "It gets no context keys."),
    match.inside_segment && el("p", { class: "failure" },
      "The endpoint ends in the middle of a path segment of the feed, so it may match by chance."),
    match.shadowed.map((other) => el("p", { class: "shadowed" },
      "Not ", value(other.endpoint, "url"), ", which is shorter",
      other.lost_keys.length ? [": the feed loses ", list(other.lost_keys), "."] : ".")));
}

// list returns keys with commas between them.
const list = (keys) => keys.flatMap((key, i) => (i ? [", ", code(key)] : [code(key)]));
