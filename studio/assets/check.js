// The checks of a registered address, or of a file as it would be served.

import { checkSignature, runCheck } from "./actions.js";
import { address, badge, button, count, h, plain, value } from "./dom.js";
import { failureBox, viewHead } from "./parts.js";
import { sendOf, sendTo, version } from "./select.js";
import { state } from "./store.js";

/** The statuses and their colours, what matters most first. */
const statuses = /** @type {Record<string, string>} */ ({ failed: "bad", warned: "notable", passed: "good",
  skipped: "" });

/** runOf returns the last run for what is looked at. @param {Source} s */
function runOf(s) {
  const run = state.check;
  return run?.source === s.id && run.version === (version(s)?.name ?? "") ? run : null;
}

/** checkMark says how the last run went, as long as it is about what is there. @param {Source} s */
export function checkMark(s) {
  const run = runOf(s);
  if (!run || run.running || run.signature !== checkSignature(s)) return null;
  for (const status of ["failed", "warned"]) {
    const n = run.results.filter((r) => r.status === status).length;
    if (n > 0) return { text: n, kind: statuses[status] };
  }
  return run.ok ? { text: "✓", kind: "good" } : null; // otherwise it did not end
}

/** @param {Source} s */
export function checkView(s) {
  const v = version(s);
  const run = runOf(s);
  return h("div", { class: "view check-view", key: "check" },
    viewHead("Check", scope(s),
      h("div", { class: "row" },
        button({
          class: "primary", id: "run-check", "aria-disabled": run?.running ? "true" : undefined,
          onclick: () => (run?.running ? undefined : runCheck(s, v?.name ?? "")),
        }, run ? "Run again" : "Run the checks"),
        run?.running && button({ onclick: () => run.controller?.abort() }, "Cancel"),
        h("span", { role: "status", id: "check-status" }, run?.running
          ? h("span", { class: "waiting" }, run.total ? `Endpoint ${run.done} of ${run.total}` : "Checking…")
          : run && !run.failure ? totals(run.results) : ""),
        run && !run.running && run.signature !== checkSignature(s) && badge("not the current state", "notable"))),
    !run && h("p", { class: "blank" },
      "Shows what a studio and the apps would run into: certificate and redirects, the manifest and its ",
      "rules, CORS and caching, then every feed, its content type and its links."),
    run?.failure && failureBox(run.failure, "check-failure"),
    run && run.results.length > 0 && h("ul", { class: "rows", id: "results" },
      grouped(run.results).map((same) =>
        h("li", { key: same.map((r) => r.check + r.endpoint).join() }, result(same)))));
}

/** scope says what the checks look at. @param {Source} s */
function scope(s) {
  const manifest = s.kind === "address" ? ["Fetches the manifest from ", value(s.id)]
    : ["Checks the manifest as ", h("code", {}, "signpost serve"), " would publish it"];
  const feeds = { sample: ". To check the feeds as well, choose a real server as the data of Preview.",
    origin: `, and calls its feeds on ${plain(sendTo() || "the server entered in Preview")}.`,
    published: ", and calls its feeds at their published URLs." };
  return [manifest, feeds[sendOf(s)]];
}

/** grouped puts results together that say the same, and what matters most first. @param {CheckResult[]} results */
function grouped(results) {
  const order = Object.keys(statuses);
  return [...Map.groupBy(results, (r) => JSON.stringify([r.status, r.endpoint && r.check, r.message, r.hint])).values()]
    .sort(([a], [b]) => order.indexOf(a.status) - order.indexOf(b.status));
}

// So many endpoints with the same result are listed.
const maxListed = 10;

/** result says what one check found, or several that found the same. @param {CheckResult[]} same */
function result(same) {
  const [r] = same;
  const others = same.filter((other) => other.endpoint && !other.message.includes(`"${other.endpoint}"`));
  return [
    badge(r.status, statuses[r.status]),
    h("div", { class: "stack" },
      h("p", {}, h("span", { class: "checked" }, [...new Set(same.map((other) => other.check))].join(", ")), " ",
        plain(r.message)),
      others.slice(0, maxListed).map((other) => h("p", {}, address(other.endpoint, "quiet"))),
      others.length > maxListed && h("p", { class: "quiet" }, `and ${others.length - maxListed} more`),
      r.hint && h("p", { class: "hint" }, r.hint.split("\n").map((line) => [plain(line), h("br")]))),
  ];
}

/** @param {CheckResult[]} results */
const totals = (results) => Object.keys(statuses).map((status) =>
  [status, results.filter((r) => r.status === status).length])
  .filter(([, n]) => n).map(([status, n]) => `${n} ${status}`).join(", ") || count(0, "result");
