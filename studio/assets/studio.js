// Signpost studio: the one place that renders the state.

import { choose, currentDraft, send, sendFirst } from "./actions.js";
import { button, byId, choice, h, mount, plain, whenFailed } from "./dom.js";
import { lacksKey } from "./endpoint.js";
import { paletteDialog } from "./palette.js";
import { leaveMenu } from "./preview.js";
import { current, judged, serviceName, source } from "./select.js";
import { Refused } from "./server.js";
import { sidebar } from "./sidebar.js";
import { change, onChange, recall, state } from "./store.js";
import { arrive, connect } from "./sync.js";
import { banners, header, intro, openPalette, registerDialog } from "./top.js";
import { views } from "./views.js";

/** The endpoint whose fields are on the page. */
let fieldsOf = "";

/** tidy makes the state fit what is looked at. @param {State} state */
function tidy(state) {
  const s = source();
  const at = state.route.view === "preview" ? current() : null;
  if (s) state.unfolded["service:" + s.id] ??= true; // and it stays so when another is chosen, so that nothing moves
  if (at && lacksKey(at)) state.unfolded.context ??= true;
  if (at) state.names[at.id] = at.endpoint.name;
  if ((at?.id ?? "") === fieldsOf) return;
  fieldsOf = at?.id ?? "";
  state.attention = false; // which was about the fields of another endpoint
}

function render() {
  const s = source();
  document.title = plain(s ? `${serviceName(s)} · Signpost studio` : "Signpost studio");
  mount(/** @type {HTMLElement} */ (byId("app")),
    header(),
    intro(),
    h("div", { class: `frame show-${state.route.view} at-${state.route.pane}`, key: "frame" },
      state.loaded && sidebar(),
      h("main", { id: "main", class: "beside", tabindex: "-1", key: "main" },
        h("div", { class: "banners", key: "banners" }, banners()),
        serviceSelect(),
        h("div", { class: "content", key: "content" }, viewContent()))),
    dialog());
  leaveDialog();
  currentDraft(); // or what a view asks for
}

/** serviceSelect chooses a service where there is no room for the sidebar beside a view. */
function serviceSelect() {
  const s = source();
  if (!s || ["preview", "map"].includes(state.route.view) || judged().length < 2) return null;
  return h("p", { class: "service-select", key: "service-select" }, h("label", { for: "service" }, "Service"), " ",
    choice({ id: "service", value: s.id }, choose, judged().map((other) => [other.id, serviceName(other)])));
}

/** @returns {Child} */
function viewContent() {
  if (!state.loaded) return h("p", { class: "blank", id: "loading" }, state.connection === "lost" ? "" : "Loading…");
  const s = source();
  if (!s) return state.route.source === "" || state.server.sources.size === 0 ? welcome() : null;
  return (views.find((view) => view.name === state.route.view) ?? views[0]).show(s);
}

const welcome = () => h("section", { class: "blank", id: "empty", "aria-labelledby": "empty-title" },
  h("h2", { id: "empty-title" }, "Nothing is registered yet"),
  h("p", {}, "Register the address of a manifest, or run ", h("code", {}, "signpost studio feeds.yaml"),
    " to open a definition."),
  button({ class: "primary", onclick: () => change((state) => { state.dialog = "register"; }) },
    "Register a manifest"));

/** What had the focus when the dialog was opened. @type {Element | null} */
let opener = null;

/** leaveDialog gives the focus back once there is no dialog, unless it went elsewhere. */
function leaveDialog() {
  if (state.dialog !== "" || !opener) return;
  if (document.activeElement === document.body) /** @type {HTMLElement} */ (opener).focus({ preventScroll: true });
  opener = null;
}

/** dialog is the one that is open. @returns {Child} */
function dialog() {
  const content = { palette: paletteDialog, register: registerDialog }[state.dialog];
  if (!content) return null;
  const close = () => change((state) => {
    if (state.dialog === "register") state.failures.register = null; // it was about what is no longer seen
    state.dialog = "";
  });
  return h("dialog", {
    key: "dialog-" + state.dialog, class: "dialog " + state.dialog, "aria-labelledby": "dialog-title",
    created: (node) => {
      opener = document.activeElement;
      queueMicrotask(() => { node.showModal(); node.querySelector("input")?.focus(); });
    },
    onclose: close, oncancel: close,
    onclick: (event) => { if (event.target === event.currentTarget) close(); },
  }, h("div", { class: "dialog-body" }, content(),
    button({ class: "small close", onclick: close }, "Close")));
}

/** failed is what becomes of the failure of anything that waited for the server. @param {unknown} error */
function failed(error) {
  if (!(error instanceof Refused)) throw error;
  change((state) => { state.failures.page = error.failure; });
}
whenFailed(failed);

document.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "k") {
    event.preventDefault();
    if (state.dialog !== "palette") openPalette();
  } else if (command && event.key === "Enter" && !event.repeat && state.route.view === "preview"
    && state.dialog === "") {
    event.preventDefault();
    send().catch(failed);
  }
});

for (const kind of ["keydown", "pointerdown", "focusin"]) document.addEventListener(kind, leaveMenu);

byId("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  byId("main")?.focus();
});

addEventListener("popstate", () => arrive(false));

const last = recall();
const reloaded = performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type === "reload");
if (last && reloaded) change((state) => Object.assign(state.route, last));
else arrive(true);
onChange(render, tidy);
connect();
sendFirst();
