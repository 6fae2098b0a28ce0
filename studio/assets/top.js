// The top of the page: what is looked at, the views of it, the search, and what must not be missed.

import { choose, register, update } from "./actions.js";
import { apple, badge, button, byId, choice, h, linkButton, plain, value } from "./dom.js";
import { failureBox } from "./parts.js";
import { go, present } from "./route.js";
import { endpoint, judged, sendOf, serviceName, shortName, source, version } from "./select.js";
import { after, change, state } from "./store.js";
import { views } from "./views.js";

export function header() {
  const s = source();
  const v = s && version(s);
  return h("header", { class: "top", key: "top" },
    h("img", { src: "signpost.svg", alt: "", width: 26, height: 26 }),
    h("h1", { class: "title" }, s ? value(serviceName(s)) : "Signpost studio"),
    s && s.versions.length > 1 && choice({ id: "version", class: "quietly", "aria-label": "API version",
      value: v?.name ?? "" },
      (name) => chooseVersion(s, name), s.versions.map((other) => [other.name, other.name])),
    h("nav", { class: "views", "aria-label": "Views" }, views.map(({ name, label, mark }) => {
      const marked = s && mark(s);
      return h("a", {
        key: name, href: present({ view: name, pane: "list" }),
        "aria-current": state.route.view === name ? "page" : undefined,
        onclick: (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go({ view: name, pane: name === "preview" ? state.route.pane : "list" });
        },
      }, label, marked && badge(marked.text, marked.kind));
    })),
    s && button({
      class: "goto", id: "goto", "aria-keyshortcuts": apple ? "Meta+K" : "Control+K", onclick: openPalette,
    }, h("span", { class: "words" }, "Search", h("span", { class: "more" }, " or paste a feed URL")),
    h("kbd", {}, apple ? "⌘ K" : "Ctrl K")));
}

/** chooseVersion goes to another version, to the endpoint at the same path. @param {Source} s @param {string} name */
const chooseVersion = (s, name) => go({
  source: s.id, version: name, endpoint: endpoint(s.versions.find((v) => v.name === name))?.key ?? "",
});

export function openPalette() {
  change((state) => {
    state.dialog = "palette";
    state.palette = { text: "", at: 0 };
  });
}

const seenKey = "signpost-studio-seen";
let seen = false;
try {
  seen = localStorage.getItem(seenKey) !== null;
} catch {
  // Without storage, the line is there every time.
}

/** intro says what this page is, the first time. */
export function intro() {
  const s = source();
  if (seen || !s || s.versions.length === 0) return null;
  return h("aside", { class: "intro", id: "intro", key: "intro", "aria-label": "About this page" },
    h("span", {}, "This is what editors will see once the studio has registered this manifest. ",
      sendOf(s) === "sample" ? ["The answers are ", h("strong", {}, "sample data"), ": send to your service under ",
        linkButton(openData, "Data"), ". "]
        : "The answers come from the service itself, when you press Send. "),
    linkButton(() => change((state) => {
      seen = true;
      try {
        localStorage.setItem(seenKey, "1");
      } catch {
        // Then it comes back.
      }
    }), "Got it"));
}

function openData() {
  go({ view: "preview", pane: "endpoint" });
  after(() => byId("data")?.focus());
}

/** banners are what must not be missed. They stay in view. */
export function banners() {
  const s = source();
  const unknown = state.loaded && state.route.source !== "" && !s;
  const { page, deployment, register: unregistered, locked } = state.failures;
  return [
    state.connection === "lost" && (locked ? failureBox(locked, "offline")
      : h("div", { class: "banner bad", id: "offline", role: "alert", key: "offline" },
        h("p", {}, "The studio has stopped. Start ", h("code", {}, "signpost studio"),
          " again, and this page picks up where you left off."))),
    page && state.connection !== "lost" && failureBox(page, "page-failure",
      button({ class: "small", onclick: () => change((state) => { state.failures.page = null; }) }, "Close")),
    unknown && h("div", { class: "banner notable", role: "alert", id: "unknown", key: "unknown" },
      h("p", {}, "This link points to ", value(state.route.source), ", which is not registered here."),
      /^https?:\/\//i.test(state.route.source)
        && button({ onclick: () => register(state.route.source) }, "Register it"),
      judged().length > 0 && button({ onclick: () => choose(judged()[0].id) }, "Show registered services")),
    unregistered && state.dialog !== "register" && failureBox(unregistered, "register-failure"),
    deployment && failureBox(deployment, "deployment-failure"),
    s && notes(s),
  ];
}

/** @param {Source} s @returns {Child} */
function notes(s) {
  const failed = s.failure;
  return [
    failed && failureBox({ ...failed, detail: `${shortName(s)}: ${failed.detail}` }, "source-failure",
      s.kind === "address"
        && button({ onclick: () => update(s.id) }, state.busy["source:" + s.id] ? "Trying…" : "Try again")),
    s.notes.length > 0 && h("ul", { class: "notes", id: "notes", key: "notes" },
      s.notes.map((note) => h("li", {}, plain(note)))),
  ];
}

/** registerDialog registers an address. */
export const registerDialog = () => [
  h("h2", { id: "dialog-title" }, "Register a manifest"),
  h("form", {
    id: "register", novalidate: true, class: "stack",
    onsubmit: () => {
      const input = /** @type {HTMLInputElement} */ (byId("address"));
      if (input.value.trim() === "") input.focus();
      return input.value.trim() === "" ? undefined : register(input.value.trim());
    },
  },
  h("label", { for: "address" }, "Address of the manifest"),
  h("div", { class: "row" },
    h("input", {
      id: "address", type: "url", placeholder: "https://feeds.example.com/v1/endpoints-manifest", autocomplete: "url",
      autocapitalize: "off", spellcheck: "false",
      "aria-describedby": state.failures.register ? "register-failure" : undefined,
    }),
    h("button", { type: "submit", class: "primary", "aria-busy": state.busy.register ? "true" : undefined },
      state.busy.register ? "Registering…" : "Register")),
  state.failures.register && failureBox(state.failures.register, "register-failure")),
];
