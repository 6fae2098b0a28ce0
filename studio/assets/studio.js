// Signpost studio: the one place that renders the state.

import { compose, send } from "./actions.js";
import { answerPane } from "./answer.js";
import { changesView } from "./changes.js";
import { checkView } from "./check.js";
import { byId, count, h, mount, plain, value } from "./dom.js";
import { endpointPane } from "./endpoint.js";
import { findingsView } from "./findings.js";
import { mapView } from "./map.js";
import { paletteDialog } from "./palette.js";
import { go } from "./route.js";
import { current, endpoint, shortName, source, version } from "./select.js";
import { change, onChange, recall, state } from "./store.js";
import { arrive, connect } from "./sync.js";
import { banners, deployment, header, openPalette, setDialog, sourcesDialog } from "./top.js";
import { tree } from "./tree.js";

/** @typedef {import("./dom.js").Child} Child */

const others = /** @type {Record<string, () => Child>} */ ({ map: mapView, findings: findingsView, changes: changesView, check: checkView });

/** The endpoint whose fields are on the page. */
let fieldsOf = "";

/** forgetFields drops what was said about the fields of another endpoint: when this one is shown again, they are new. */
function forgetFields() {
  const at = state.route.view === "endpoints" ? current()?.id ?? "" : "";
  if (at === fieldsOf) return;
  fieldsOf = at;
  state.bad = {};
  state.attention = false;
}

function render() {
  forgetFields();
  const s = source();
  document.title = plain(s ? `${shortName(s)} · Signpost studio` : "Signpost studio");
  mount(/** @type {HTMLElement} */ (byId("app")),
    header(),
    deployment(),
    h("div", { class: "banners", key: "banners" }, banners()),
    h("main", { id: "main", tabindex: "-1", key: "main", class: `show-${state.route.view} at-${state.route.pane}` }, main()),
    dialog());
  compose();
}

/** @returns {Child} */
function main() {
  const s = source();
  if (!state.loaded) return h("p", { class: "blank", id: "loading" }, state.connection === "lost" ? "" : "Loading…");
  if (!s) return state.route.source === "" || state.server.order.length === 0 ? welcome() : null;
  const view = others[state.route.view];
  if (view) return view();
  const v = version(s);
  const e = endpoint(v);
  const at = current();
  return h("div", { class: "panes" },
    v && tree(s, v, e),
    at ? [endpointPane(at), answerPane(at)] : h("div", { class: "blank", id: "endpoint-blank", key: "blank" }, blankText()),
    at && h("nav", { class: "steps", "aria-label": "Panes", key: "steps" },
      state.route.pane === "endpoint" && h("button", { type: "button", class: "primary", onclick: () => go({ pane: "answer" }) }, "Response ›")));
}

const welcome = () => h("section", { class: "blank", id: "empty", "aria-labelledby": "empty-title" },
  h("h2", { id: "empty-title" }, "Nothing is registered yet"),
  h("p", {}, "Register the address of a manifest, or run ", h("code", {}, "signpost studio feeds.yaml"), " to open a definition."),
  h("p", {}, h("button", { type: "button", class: "primary", onclick: () => change(() => { state.dialog = "sources"; }) }, "Register a manifest")));

/** @returns {Child} */
function blankText() {
  const s = source();
  const v = s && version(s);
  if (s?.failure && !v) return "The manifest could not be fetched.";
  if (v && s?.kind === "address") return "This manifest has no endpoints. When the service has some, press Update in the list of manifests.";
  if (v) return "This definition has no endpoints yet. Add one and save the file; this page reloads automatically.";
  if (s && s.findings.length > 0) {
    return [h("h2", {}, value(shortName(s)), " has ", count(s.findings.filter((f) => f.severity === "error").length, "error")),
      h("p", {}, "So there are no endpoints to show. Fix the findings and save; this page reloads automatically."),
      h("button", { type: "button", class: "primary", onclick: () => go({ view: "findings" }) }, "Show the findings")];
  }
  return "There is nothing to show for this host.";
}

/** dialog is the one that is open. @returns {Child} */
function dialog() {
  const content = { palette: paletteDialog, sources: sourcesDialog, set: setDialog }[state.dialog];
  if (!content) return null;
  const close = () => change(() => {
    if (state.dialog === "sources") state.failures.register = null; // it was about what is no longer seen
    state.dialog = "";
  });
  return h("dialog", {
    key: "dialog-" + state.dialog, class: "dialog " + state.dialog, "aria-labelledby": "dialog-title",
    created: (/** @type {HTMLDialogElement} */ node) => queueMicrotask(() => { node.showModal(); node.querySelector("input")?.focus(); }),
    onclose: close, oncancel: close,
    onclick: (/** @type {MouseEvent} */ event) => { if (event.target === event.currentTarget) close(); },
  }, h("div", { class: "dialog-body" }, content(), state.dialog !== "set" && h("button", { type: "button", class: "small close", onclick: close }, "Close")));
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    if (state.dialog !== "palette") openPalette();
  } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !event.repeat && state.route.view === "endpoints" && state.dialog === "") {
    event.preventDefault();
    send();
  }
});

byId("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  byId("main")?.focus();
});

addEventListener("popstate", () => arrive(false));

recall();
arrive(true);
onChange(render);
connect();
