// The top of the page: what is looked at, the views of it, and the deployment that it is looked at for.

import { register, remove, setHost, update } from "./actions.js";
import { apple, badge, byId, clock, code, count, h, plain, value } from "./dom.js";
import { failureBox, segments } from "./parts.js";
import { go, present, views } from "./route.js";
import { contextSet, judged, sendOf, shortName, source, version } from "./select.js";
import { change, state } from "./store.js";
import { deploy } from "./sync.js";

/** @typedef {import("./types.js").Source} Source */

export const viewNames = /** @type {Record<string, string>} */ ({ endpoints: "Endpoints", map: "Map", findings: "Findings", changes: "Changes", check: "Check" });

const sendNames = /** @type {Record<string, string>} */ ({ published: "as published", origin: "another server", sample: "sample data" });

export function header() {
  const s = source();
  const v = s && version(s);
  return h("header", { class: "top", key: "top" },
    h("img", { src: "signpost.svg", alt: "", width: 30, height: 30 }),
    h("h1", { class: s && !s.title ? "unseen" : "title" }, s ? value(s.title || shortName(s)) : "Signpost studio"),
    h("button", {
      type: "button", id: "source-button", class: "plainly" + (s && !s.title ? " alone" : ""), "aria-haspopup": "dialog", title: s ? plain(s.name) : undefined,
      onclick: () => change(() => { state.dialog = "sources"; state.failures.register = null; }),
    }, s ? plain(s.kind === "example" ? "built-in example" : shortName(s)) : "Register a manifest",
    judged().length > 1 && h("span", { class: "quiet" }, ` +${judged().length - 1}`), h("span", { "aria-hidden": "true" }, " ▾")),
    s && s.versions.length > 1 && segments("versions", "API version", s.versions.map((other) => ({
      value: other.name, label: other.name, checked: other === v, onchoose: () => chooseVersion(s, other.name),
    }))),
    h("nav", { class: "views", "aria-label": "Views" }, views.map((name) => h("a", {
      key: name, href: present({ view: name, pane: "list" }), "aria-current": state.route.view === name ? "page" : undefined,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go({ view: name, pane: "list" });
      },
    }, viewNames[name], s && mark(name, s)))),
    s && h("button", { type: "button", class: "goto", id: "goto", "aria-keyshortcuts": apple ? "Meta+K" : "Control+K", onclick: () => openPalette() },
      h("span", { class: "words" }, "Go to", h("span", { class: "more" }, " endpoint, key, modifier, feed URL")), h("kbd", {}, apple ? "⌘ K" : "Ctrl K")));
}

/** chooseVersion goes to another version, to the endpoint at the same path. @param {Source} s @param {string} name */
function chooseVersion(s, name) {
  go({ source: s.id, version: name });
  setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("#versions input:checked"))?.focus(), 0);
}

export function openPalette() {
  change(() => {
    state.dialog = "palette";
    state.palette = { text: "", at: 0, matches: [] };
  });
}

/** mark is the number beside the name of a view. @param {string} name @param {Source} s */
function mark(name, s) {
  if (name === "findings" && s.findings.length) {
    return badge(s.findings.length, s.findings.some((f) => f.severity === "error") ? "bad" : "notable");
  }
  if (name === "changes" && s.changes.length) {
    return badge(s.changes.length, s.changes.some((c) => c.level === "breaking") ? "bad" : "");
  }
  if (name === "check" && state.check?.source === s.id && state.check.version === (version(s)?.name ?? "") && !state.check.running) {
    const having = (/** @type {string} */ status) => state.check?.results.filter((r) => r.status === status).length ?? 0;
    if (having("failed")) return badge(having("failed"), "bad");
    return having("warned") ? badge(having("warned"), "notable") : badge("✓", "good");
  }
  return null;
}

/** deployment is the bar below the top. */
export function deployment() {
  const s = source();
  if (!s) return null;
  const own = s.kind !== "address";
  const send = sendOf(s);
  return h("section", { class: "deployment" + (state.unfolded ? " unfolded" : ""), "aria-label": "Deployment", key: "deployment" },
    h("button", {
      type: "button", class: "unfold plainly", "aria-expanded": String(state.unfolded), onclick: () => change(() => { state.unfolded = !state.unfolded; }),
    }, h("span", {}, "Deployment: ", value(s.host), " · ", sendNames[send]), h("span", { "aria-hidden": "true" }, state.unfolded ? " ▴" : " ▾")),
    s.features.length > 0 && h("div", { class: "row", role: "group", "aria-label": "Features" }, h("span", { class: "quiet", "aria-hidden": "true" }, "Features"),
      s.features.map((feature) => h("button", {
        key: feature.name, type: "button", class: "pill", role: "switch", "aria-checked": String(feature.enabled),
        onclick: () => deploy({ source: s.id, features: s.features.filter((f) => (f.name === feature.name ? !f.enabled : f.enabled)).map((f) => f.name) }),
      }, plain(feature.name)))),
    own && s.host_open ? hostForm(s) : h("span", { class: "row" }, h("span", { class: "quiet" }, "Host"), value(s.host, "strong")),
    h("div", { class: "row" }, h("span", { class: "quiet", "aria-hidden": "true" }, "Send to"),
      segments("send-mode", "Send to", [
        { value: "published", label: sendNames.published, checked: send === "published", onchoose: () => chooseSend("published") },
        { value: "origin", label: send !== "origin" && state.server.sendTo || sendNames.origin, checked: send === "origin", onchoose: () => chooseSend("origin") },
        { value: "sample", label: sendNames.sample, checked: send === "sample", onchoose: () => chooseSend("sample") },
      ]),
      send === "origin" && originForm()),
    setPicker(),
    h("span", { class: "live " + state.connection, title: s.kind === "address" ? `Fetched ${clock(s.read)}` : `Read ${clock(s.read)}` },
      state.connection === "live" ? "live" : state.connection === "lost" ? "stopped" : "connecting"),
    state.failures.deployment && h("div", { class: "wide" }, failureBox(state.failures.deployment, "deployment-failure")));
}

/** @param {string} send */
function chooseSend(send) {
  go({ send }, { replace: true });
  if (send === "origin" && !state.server.sendTo) setTimeout(() => byId("send-to")?.focus(), 0);
}

/** @param {Source} s */
const hostForm = (s) => h("form", { class: "row", novalidate: true, key: "host", onsubmit: submit("host", setHost) },
  h("label", { for: "host" }, code("{{host}}"), " ="),
  h("input", {
    id: "host", type: "text", size: 18, autocomplete: "off", autocapitalize: "off", spellcheck: "false", key: "host-" + s.host,
    created: (/** @type {HTMLInputElement} */ node) => { node.value = state.server.host; },
    "aria-invalid": state.failures.deployment ? "true" : undefined, "aria-describedby": state.failures.deployment ? "deployment-failure" : undefined,
    onchange: (/** @type {any} */ event) => setHost(event.target.value),
  }));

const originForm = () => h("form", { class: "row", novalidate: true, key: "origin", onsubmit: submit("send-to", setOrigin) },
  h("label", { for: "send-to", class: "unseen" }, "Server to send to"),
  h("input", {
    id: "send-to", type: "url", size: 18, placeholder: "http://localhost:3000", autocomplete: "off", spellcheck: "false", key: "origin-" + state.server.sendTo,
    created: (/** @type {HTMLInputElement} */ node) => { node.value = state.server.sendTo; },
    onchange: (/** @type {any} */ event) => setOrigin(event.target.value),
  }));

/** @param {string} origin */
const setOrigin = (origin) => (origin.trim() === state.server.sendTo ? undefined : deploy({ send_to: origin }));

/** @param {string} id @param {(text: string) => unknown} action */
const submit = (id, action) => (/** @type {Event} */ event) => {
  event.preventDefault();
  action(/** @type {HTMLInputElement} */ (byId(id)).value);
};

/** setPicker chooses the set of context values. */
function setPicker() {
  const set = contextSet();
  return h("div", { class: "row", key: "set" },
    h("label", { for: "set", class: "quiet" }, "App"),
    h("select", { id: "set", value: set.id, title: "What the app knows about its user and device. The values stay in this tab.", onchange: (/** @type {any} */ event) => chooseSet(event.target.value) },
      state.sets.map((other) => h("option", { key: other.id, value: other.id }, plain(other.name))),
      h("option", { key: "new", value: "new" }, "New set…")),
    h("button", { type: "button", class: "small", onclick: () => change(() => { state.dialog = "set"; }) }, "Edit"));
}

/** @param {string} id */
function chooseSet(id) {
  if (id !== "new") {
    change(() => { state.set = id; });
    return;
  }
  change(() => {
    const next = String(Math.max(...state.sets.map((set) => Number(set.id))) + 1);
    state.sets = [...state.sets, { id: next, name: `Set ${next}`, values: {} }];
    state.set = next;
    state.dialog = "set";
  });
}

/** banners are what must not be missed. They stay in view. */
export function banners() {
  const s = source();
  const lost = state.connection === "lost";
  const unknown = state.loaded && state.route.source !== "" && !s;
  return [
    lost && h("div", { class: "banner bad", id: "offline", role: "alert", key: "offline" },
      h("p", {}, "The studio has stopped. Start ", h("code", {}, "signpost studio"), " again, and this page picks up where you left off.")),
    unknown && h("div", { class: "banner notable", role: "alert", id: "unknown", key: "unknown" },
      h("p", {}, "This link points to ", value(state.route.source), ", which is not registered here."),
      /^https?:\/\//i.test(state.route.source) && h("button", { type: "button", onclick: () => register(state.route.source) }, "Register it"),
      judged().length > 0 && h("button", { type: "button", onclick: () => go({ source: judged()[0].id, version: "", endpoint: "" }) }, "Show registered manifests")),
    state.failures.register && state.dialog !== "sources" && failureBox(state.failures.register, "register-failure"),
    s && notes(s),
  ];
}

/** @param {Source} s */
function notes(s) {
  const failed = state.failures["source:" + s.id] ?? s.failure;
  const all = [...s.notes];
  if (s.stale && s.versions.length > 0) all.unshift("The file has errors. Like a running service, this page keeps the last valid version.");
  return [
    failed && h("div", { key: "failed", class: "banner bad", role: "alert", id: "source-failure" },
      h("p", {}, h("strong", {}, value(shortName(s)), ": ", plain(failed.detail))), failed.hint && h("p", {}, plain(failed.hint)),
      s.kind === "address" && h("button", { type: "button", onclick: () => update(s.id) }, state.busy["source:" + s.id] ? "Trying…" : "Try again")),
    all.length > 0 && h("ul", { class: "notes", id: "notes", key: "notes" }, all.map((note) => h("li", {}, plain(note)))),
  ];
}

/** sourcesDialog lists what is registered, and registers more. */
export function sourcesDialog() {
  const all = [...state.server.order].flatMap((id) => state.server.sources.get(id) ?? []);
  return [
    h("h2", { id: "dialog-title" }, all.length ? "Registered manifests" : "Register a manifest"),
    h("ul", { class: "sources" }, all.map((s) => h("li", { key: s.id },
      h("button", {
        type: "button", class: "link strong", disabled: !s.judged, "aria-current": s === source() ? "true" : undefined,
        onclick: () => { change(() => { state.dialog = ""; }); go({ source: s.id, version: "", endpoint: "", filter: "", pane: "list" }); },
      }, plain(s.title || shortName(s))),
      h("span", { class: "url quiet" }, value(s.kind === "example" ? "built-in example" : s.name)),
      h("span", { class: "quiet" }, s.judged ? count(s.versions.reduce((n, v) => n + v.endpoints.length, 0), "endpoint") : "counts for overlap only",
        s.kind === "address" && s.versions.length > 0 && ` · fetched ${clock(s.read)}`),
      s.failure && badge("failed", "bad"),
      link(s) && h("a", { href: link(s), target: "_blank", rel: "noopener noreferrer" }, "Manifest"),
      s.kind === "address" && h("button", { type: "button", class: "small", onclick: () => update(s.id) }, state.busy["source:" + s.id] ? "Updating…" : "Update"),
      s.kind === "address" && h("button", { type: "button", class: "small", onclick: () => remove(s.id) }, "Remove")))),
    h("form", {
      id: "register", novalidate: true, class: "stack",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const input = /** @type {HTMLInputElement} */ (byId("address"));
        if (input.value.trim() === "") input.focus();
        else register(input.value.trim());
      },
    },
    h("label", { for: "address" }, all.length ? "Address of another manifest" : "Address of the manifest"),
    h("div", { class: "row" },
      h("input", {
        id: "address", type: "url", placeholder: "https://feeds.example.com/v1/endpoints-manifest", autocomplete: "url", autocapitalize: "off", spellcheck: "false",
        "aria-describedby": state.failures.register ? "register-failure" : undefined,
      }),
      h("button", { type: "submit", class: "primary", "aria-busy": state.busy.register ? "true" : undefined }, state.busy.register ? "Registering…" : "Register")),
    state.failures.register && failureBox(state.failures.register, "register-failure")),
  ];
}

/** link returns where a manifest can be read. @param {Source} s */
function link(s) {
  if (s.kind !== "address") return version(s)?.route || undefined;
  return /^https?:\/\//i.test(s.name) ? s.name : undefined;
}

/** setDialog edits the set of context values that is used. */
export function setDialog() {
  const set = contextSet();
  const places = Object.entries(set.values).filter(([, values]) => Object.values(values).some((v) => v.text !== ""));
  return [
    h("h2", { id: "dialog-title" }, "Context values"),
    h("p", { class: "quiet" }, "A set holds what an app knows about its user and device, such as an access token. It stays in this browser tab. Each value is sent only to the server that you entered it for."),
    h("div", { class: "stack" }, h("label", { for: "set-name" }, "Name"),
      h("input", { id: "set-name", type: "text", value: set.name, oninput: (/** @type {any} */ event) => change(() => { set.name = event.target.value; }) })),
    places.length === 0 && h("p", { class: "blank-line" }, "This set is empty. Enter values on an endpoint, under “The app adds”."),
    h("ul", { class: "sources" }, places.map(([to, values]) => h("li", { key: to }, value(to, "strong"), " ",
      h("span", { class: "quiet" }, plain(Object.keys(values).join(", "))),
      h("button", { type: "button", class: "small", onclick: () => change(() => { delete set.values[to]; }) }, "Forget")))),
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", onclick: () => change(() => { state.dialog = ""; }) }, "Done"),
      state.sets.length > 1 && h("button", {
        type: "button",
        onclick: () => change(() => {
          state.sets = state.sets.filter((other) => other !== set);
          state.set = state.sets[0].id;
          state.dialog = "";
        }),
      }, "Delete set")),
  ];
}
