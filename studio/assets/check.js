// The checks of a registered address, or of a file as it would be served.

import { runCheck } from "./actions.js";
import { badge, count, h, plain, value } from "./dom.js";
import { failureBox } from "./parts.js";
import { sendOf, source, version } from "./select.js";
import { state } from "./store.js";

const statuses = /** @type {Record<string, string>} */ ({ passed: "good", failed: "bad", warned: "notable", skipped: "" });

export function checkView() {
  const s = source();
  if (!s) return null;
  const v = version(s);
  const run = state.check?.source === s.id && state.check.version === (v?.name ?? "") ? state.check : null;
  const where = s.kind === "address" ? ["the manifest at ", value(s.name), " and its endpoints"]
    : ["the manifest as ", h("code", {}, "signpost serve"), " would send it",
      sendOf(s) === "sample" ? ". Sample answers say nothing about the feeds, so choose another Send to for them" : sendOf(s) === "origin" ? [", and its feeds at ", value(state.server.sendTo || "the origin of Send to")] : ", and its feeds where it publishes them"];
  return h("div", { class: "view check-view" },
    h("div", { class: "view-head" },
      h("h2", { id: "view-title", tabindex: "-1" }, "Check"),
      h("p", { class: "quiet" }, "Tries ", where, "."),
      h("div", { class: "row" },
        h("button", { type: "button", class: "primary", id: "run-check", "aria-disabled": run?.running ? "true" : undefined, onclick: () => { if (!run?.running) runCheck(s.id, v?.name ?? ""); } }, run ? "Run again" : "Run the checks"),
        run?.running && h("button", { type: "button", onclick: () => run.controller?.abort() }, "Cancel"),
        h("span", { role: "status", id: "check-status" }, run?.running ? h("span", { class: "waiting" }, run.total ? `Endpoint ${run.done} of ${run.total}` : "Checking…")
          : run && !run.failure ? totals(run) : ""))),
    run?.failure && failureBox(run.failure, "check-failure"),
    run && run.results.length > 0 && h("ul", { class: "results", id: "results" }, run.results.map((r, i) => h("li", { key: i },
      h("p", { class: "row" }, badge(r.status, statuses[r.status]), h("span", { class: "rule" }, r.check), r.endpoint && value(r.endpoint, "url quiet")),
      h("p", {}, plain(r.message)),
      r.hint && h("p", { class: "hint" }, r.hint.split("\n").map((line) => [plain(line), h("br")]))))));
}

/** @param {import("./types.js").CheckRun} run */
const totals = (run) => Object.keys(statuses).map((status) => [status, run.results.filter((r) => r.status === status).length])
  .filter(([, n]) => n).map(([status, n]) => `${n} ${status}`).join(", ") || count(0, "result");
