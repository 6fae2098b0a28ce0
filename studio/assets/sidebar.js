// The sidebar: all services with their endpoints, and with marks for what is wrong with them.

import { changesIn, choose, openEndpoint, remove, update } from "./actions.js";
import { badge, button, clock, count, h, lazy, linkButton, plain, value } from "./dom.js";
import { whenSeen } from "./parts.js";
import { go } from "./route.js";
import { endpoint, losses, marksOf, pathOf, serviceName, shortName, source, sources, version,
  wordsOf } from "./select.js";
import { within } from "./server.js";
import { after, change, state } from "./store.js";
import { usageOf } from "./usage.js";

// So many rows are added at a time, when the end of the list is scrolled to: a browser lays them out without delay.
const page = 100;

/** How many rows of each service are shown. Another list of it begins at its top.
 * @type {Map<string, { of: string, n: number }>} */
const rooms = new Map();

// From here on a filter helps.
const manyEndpoints = 8;

/** listed returns the version of a service whose endpoints are listed. @param {Source} s */
const listed = (s) => (s === source() ? version(s) : s.versions[0]);

export function sidebar() {
  const all = sources();
  const s = source();
  const lists = all.flatMap((other) => (other.judged && listed(other)) || []);
  const total = lists.reduce((n, v) => n + v.endpoints.length, 0);
  const filtered = total >= manyEndpoints || state.route.filter !== "";
  return h("nav", { class: "sidebar", "aria-label": "Services and endpoints", key: "sidebar" },
    s && h("div", { class: "service-facts", key: "facts" }, facts(s)),
    filtered && h("div", { class: "sidebar-filter", key: "filter" },
      h("input", {
        id: "filter", type: "search", placeholder: "Filter by name, URL or key", "aria-label": "Filter endpoints",
        value: state.route.filter,
        oninput: (event) => go({ filter: event.target.value }, { replace: true }),
        onkeydown: (event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          buttons()[0]?.focus();
        },
      })),
    h("ul", { id: "endpoints", key: "services", onkeydown: move }, all.map((other) => service(other, other === s))),
    h("p", { key: "register" }, button({
      class: "link", id: "register-button", "aria-haspopup": "dialog",
      onclick: () => change((state) => { state.dialog = "register"; state.failures.register = null; }),
    }, "+ Register an address")));
}

/** service is a service, with its endpoints if it is unfolded. @param {Source} s @param {boolean} chosen */
function service(s, chosen) {
  const key = "service:" + s.id;
  const unfolded = s.judged && Boolean(state.unfolded[key]);
  const v = unfolded ? listed(s) : undefined;
  const found = v ? matching(v) : [];
  return h("li", { key: s.id },
    button({
      class: "service-row", title: plain(s.id), "data-source": s.id, "aria-current": chosen && !v ? "true" : undefined,
      "aria-expanded": s.judged ? String(unfolded) : undefined, "aria-disabled": s.judged ? undefined : "true",
      onclick: () => (chosen ? change((state) => { state.unfolded[key] = !unfolded; }) : s.judged && choose(s.id)),
    },
    h("span", { class: "twisty" + (s.judged ? " chevron" : "") + (unfolded ? " down" : ""), "aria-hidden": "true" }),
    value(serviceName(s), "service-name"), " ", serviceMarks(s)),
    v && rows(s, v, found, chosen),
    unfolded && !v && h("p", { class: "blank-line" },
      s.findings.length > 0 && !s.empty ? "No endpoints while it has errors." : "No endpoints yet."));
}

/** serviceMarks says what is wrong with a service, the worst first. @param {Source} s @returns {Child} */
function serviceMarks(s) {
  const errors = s.findings.filter((f) => f.severity === "error").length;
  if (!s.judged) return h("span", { class: "mark quiet" }, "overlap only");
  if (s.failure || state.failures["source:" + s.id]) return h("span", { class: "mark bad" },
    s.kind === "address" ? "failed" : "not read");
  const breaking = s.changes.some((c) => c.level === "breaking");
  if (errors || (s.findings.length && !breaking)) {
    return h("span", { class: "mark " + (errors ? "bad" : "notable") }, count(s.findings.length, "problem"));
  }
  if (s.changes.length) return h("span", { class: "mark " + (breaking ? "bad" : "notable") },
    count(s.changes.length, "change"));
  const lost = losses(s).length;
  return lost > 0 && h("span", { class: "mark bad" }, `${lost} with lost keys`);
}

/** facts are what there is to know about a service, and to do with it. @param {Source} s @returns {Child} */
function facts(s) {
  const busy = state.busy["source:" + s.id];
  const updated = state.updated[s.id];
  const link = s.kind === "address" ? (/^https?:\/\//i.test(s.id) ? s.id : "") : version(s)?.route
    && within(version(s)?.route ?? "");
  return [
    h("p", { class: "row quiet" },
      s.title && h("span", {}, value(s.kind === "example" ? "built-in example" : shortName(s))),
      link && h("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, "Manifest"),
      s.kind === "address" && linkButton(() => update(s.id), busy ? "Updating…" : "Update"),
      s.kind === "address" && linkButton(() => remove(s.id), "Remove")),
    !s.failure && updated && h("p", { class: "row", id: "updated" },
      h("span", { class: "quiet" }, `Updated ${clock(updated.at)}:`),
      updated.changes.length === 0 ? h("span", { class: "quiet" }, "nothing has changed")
        : button({ class: "link bad", onclick: () => go({ view: "changes", base: "registered" }) },
          changesIn(updated.changes))),
  ];
}

/** matching returns the endpoints of a version that the filter wants. @param {Version} v */
function matching(v) {
  const words = state.route.filter.trim().toLowerCase();
  return v.endpoints.filter((e) => wordsOf(e).includes(words));
}

/** rows are the endpoints that were found in a version.
 * @param {Source} s @param {Version} v @param {Endpoint[]} found
 * @param {boolean} current whether it is the service that is looked at */
function rows(s, v, found, current) {
  if (found.length === 0) {
    return h("p", { class: "blank-line" },
      v.endpoints.length === 0 ? "No endpoints yet." : "No endpoint matches.");
  }
  const chosen = current && state.route.view === "preview" ? endpoint(v) : undefined;
  const of = [s.read, v.name, state.route.filter].join("\n");
  let room = rooms.get(s.id);
  if (room?.of !== of) rooms.set(s.id, room = { of, n: page });
  if (chosen) room.n = Math.max(room.n, found.indexOf(chosen) + 1);
  const { n } = room;
  const shown = found.slice(0, n);
  const stop = !current ? undefined : chosen && shown.includes(chosen) ? chosen : shown[0];
  return lazy("ul", { key: "rows" },
    [s, v, of, chosen, stop, n, state.server.overlap], () => {
    const marks = marksOf(s, v);
    return [
      shown.map((e) => row(s, v, e, marks(e), e === chosen, e === stop)),
      found.length > n && h("li", { key: "more" }, button({
        class: "link more-rows", tabindex: "-1", created: whenSeen,
        onclick: () => change((state) => rooms.set(s.id, { of, n: n + page })),
      }, `${found.length - n} more`)),
    ];
  });
}

/** @param {Source} s @param {Version} v @param {Endpoint} e @param {Marks} m @param {boolean} chosen
 * @param {boolean} focusable */
function row(s, v, e, m, chosen, focusable) {
  const unused = usageOf(s, v.name, e.key)?.requests === 0;
  return h("li", { key: e.key }, button({
    class: "endpoint-row" + (unused ? " unused" : ""), title: plain(e.url), "data-key": e.key,
    tabindex: focusable ? "0" : "-1", "aria-current": chosen ? "true" : undefined,
    onclick: () => openEndpoint({ source: s.id, version: v.name, key: e.key }),
  },
  h("span", { class: "row" }, value(e.name, "name"), " ", e.method === "post" && badge("POST", "post"),
    m.lost.length > 0 && h("span", { class: "mark bad", title: plain(`Feeds here lose ${m.lost.join(", ")}`) },
      `${count(m.lost.length, "key")} lost`),
    m.lost.length === 0 && m.problems > 0 && h("span", { class: "mark " + (m.errors ? "bad" : "notable") },
      count(m.problems, "problem")),
    m.problems + m.lost.length === 0 && m.changed && h("span", { class: "mark notable" }, "changed"),
    unused && h("span", { class: "mark quiet", title: "No request called it" }, "unused"),
    e.deprecated && h("span", { class: "mark quiet", title: plain(e.deprecated) }, "deprecated")),
  h("span", { class: "where" }, value(pathOf(v, e)))));
}

const buttons = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#endpoints button")]);

/** move goes from row to row by arrow keys. The Tab key stops at one of the endpoints alone. @param {any} event */
function move(event) {
  const all = buttons();
  const i = all.indexOf(event.target);
  const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[/** @type {string} */ (event.key)];
  if (to === undefined) return;
  event.preventDefault();
  if (all[to]?.matches(".more-rows")) all[to].click();
  after(() => buttons()[to]?.focus());
}
