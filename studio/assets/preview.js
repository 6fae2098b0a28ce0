// The preview: the request as an address bar, the deployment in one line, the controls of the endpoint, and its answer.

import { cancel, choose, currentDraft, flipFeature, focusField, openEndpoint, send, setHost, setOrigin,
  start } from "./actions.js";
import { answerPane } from "./answer.js";
import { apple, badge, button, byId, choice, code, count, h, plain, value } from "./dom.js";
import { endpointPane } from "./endpoint.js";
import { decoded } from "./json.js";
import { chip, copyButton, failureBox, toggled } from "./parts.js";
import { back, endpointID, go, present } from "./route.js";
import { contextSet, current, sendOf, sendTo, serviceName, version } from "./select.js";
import { after, change, state } from "./store.js";

/** @param {Source} s */
export function previewView(s) {
  const at = current();
  const list = button({ class: "back link", onclick: back }, "‹ Endpoints");
  if (!at) return [list, h("div", { class: "blank", id: "endpoint-blank", key: "blank" }, blank(s))];
  return h("div", { class: "preview", key: "preview" },
    list,
    addressBar(at),
    quietLine(at),
    arrival(at),
    paneTabs(at),
    h("div", { class: "panes" + (state.unfolded.answer ? " on-answer" : "") }, endpointPane(at), answerPane(at)));
}

/** paneTabs chooses between the controls and the answer where there is room for one. @param {Current} at */
function paneTabs(at) {
  const latest = state.answers[at.id]?.[0];
  const tab = (/** @type {boolean} */ answer, /** @type {Child[]} */ ...label) => button({
    key: String(answer), "aria-pressed": String(Boolean(state.unfolded.answer) === answer),
    onclick: () => change((state) => { state.unfolded.answer = answer; }),
  }, label);
  return h("div", { class: "pane-tabs", role: "group", "aria-label": "Show", key: "pane-tabs" }, tab(false, "Controls"),
    tab(true, "Answer", latest?.response && ` ${latest.response.status}`,
      latest?.cards && h("span", { class: "quiet" }, ` ${latest.cards.total}`)));
}

/** addressBar is the request that comes of what is filled in, and what can be done with it. @param {Current} at */
function addressBar(at) {
  const { draft } = state; // whose URL stands until that of the next one is known
  const now = currentDraft();
  const pending = state.pending?.id === at.id;
  return h("div", { class: "address-bar" + (now ? "" : " composing"), role: "group", "aria-label": "Request",
    key: "bar" },
    badge(at.endpoint.method.toUpperCase(), at.endpoint.method === "post" ? "post" : "get"),
    h("p", { id: "feed-url", class: "url", tabindex: "0", role: "group", "aria-label": "Composed URL" },
      urlTokens(draft?.url && draft.signature.includes(JSON.stringify(at.endpoint.key)) ? draft.url : at.endpoint.url)),
    copyMenu(),
    pending && button({ id: "cancel", onclick: cancel }, "Cancel"),
    button({
      id: "send", class: "primary", title: apple ? "⌘ Enter" : "Ctrl+Enter",
      "aria-keyshortcuts": apple ? "Meta+Enter" : "Control+Enter",
      "aria-disabled": pending || now?.owner || state.connection === "lost" ? "true" : undefined,
      onclick: (event) => (event.detail > 1 ? undefined : send()), // a double click is one click
    }, "Send"),
    h("p", { class: "problem", id: "feed-problem", role: "status" }, problemText()));
}

/** urlTokens returns a URL with its parts marked: placeholders, the keys and the values of its query.
 * @param {string} url */
function urlTokens(url) {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const [, scheme = "", authority = "", rest = path] = /^([a-z][a-z0-9+.-]*:\/\/)([^/]*)(.*)$/is.exec(path) ?? [];
  /** @type {Child[]} */
  const parts = [h("span", { class: "quiet" }, plain(scheme)), h("strong", {}, plain(authority)),
    placeholders(rest, /(?=\/)/)];
  if (end < 0) return parts;
  const [query, ...fragment] = url.slice(end).split("#");
  query.split(/(?=[?&])/).forEach((pair) => {
    const [name, ...text] = pair.slice(1).split("=");
    const whole = text.join("=");
    parts.push(h("wbr"), h("span", { class: "pair" }, plain(pair.slice(0, 1)),
      h("span", { class: "key" }, placeholders(name)),
      pair.includes("=") && "="));
    const ctx = name === "ctx" ? (state.arrived?.added.length ? "arrived" : "quiet") : "";
    parts.push(h("span", { class: ctx }, placeholders(whole)));
  });
  if (fragment.length) parts.push(h("span", { class: "quiet" }, plain("#" + fragment.join("#"))));
  return parts;
}

/** placeholders lets open ones be filled in.
 * @param {string} text @param {RegExp} [breaks] where a line may end @returns {Child[]} */
function placeholders(text, breaks) {
  return text.split(/(\{\{[^{}]*\}\})/).map((part) => {
    if (!/^\{\{[^{}]*\}\}$/.test(part)) return breaks ? part.split(breaks).map((piece) => [h("wbr"), plain(piece)])
      : plain(part);
    const name = part.slice(2, -2);
    return button({ class: "open", "aria-label": plain(`Fill in ${name}`),
      onclick: () => focusField("param:" + name) }, plain(part));
  });
}

/** problemText says why the URL is not what would be sent. The fields say what they lack themselves. */
function problemText() {
  if (state.connection === "lost") return "The studio has stopped, so this may be out of date.";
  const whole = currentDraft()?.problems.find((p) => p.field === "");
  return whole ? plain(whole.message) : "";
}

/** leaveMenu closes the menu where a key, a click or the focus leaves it. @param {Event} event */
export function leaveMenu(event) {
  const escape = event instanceof KeyboardEvent && event.key === "Escape";
  const inside = event.target instanceof Element && event.target.closest("#copy-menu");
  if (!state.unfolded.copy || (event instanceof KeyboardEvent ? !escape : inside)) return;
  change((state) => { state.unfolded.copy = false; });
  if (escape) after(() => /** @type {HTMLElement | null} */ (document.querySelector("#copy-menu summary"))?.focus());
}

/** copyMenu copies the request in the syntax of a tool. */
function copyMenu() {
  const snippets = currentDraft()?.snippets ?? [];
  const lacking = (currentDraft()?.problems.length ?? 0) > 0;
  return h("details", {
    class: "menu", id: "copy-menu", key: "copy", open: Boolean(state.unfolded.copy), ontoggle: toggled("copy"),
  },
  h("summary", {
    class: "button",
    onclick: (event) => { // so that the state knows before the next key
      event.preventDefault();
      change((state) => { state.unfolded.copy = !state.unfolded.copy; });
    },
  }, "Copy ", h("span", { class: "chevron down", "aria-hidden": "true" })),
  h("div", { class: "menu-items" },
    snippets.map(({ name, text }) => copyButton("copy-" + name, () => text, name === "URL" ? "URL" : `as ${name}`)),
    snippets.length === 0 && h("p", { class: "quiet" },
      lacking ? "Fill in what is missing first." : "No app sends this request."),
    copyButton("copy-link", () => location.origin + "/" + present(), "link to this page")));
}

const dataNames = { sample: "sample", published: "as published", origin: "another server" };

/** quietLine is what the request depends on besides the endpoint. @param {Current} at */
function quietLine(at) {
  const { source: s } = at;
  const data = sendOf(s);
  return h("div", { class: "quiet-line", key: "line" },
    h("span", { class: "row" }, h("label", { for: "data" }, "Data:"),
      choice({ id: "data", class: "quietly", value: data }, chooseData, Object.entries(dataNames)),
      data === "origin" && entry("send-to", sendTo(), setOrigin,
        { size: 20, placeholder: "http://localhost:3000", "aria-label": "Server to send to" })),
    s.features.length > 0 && h("span", { class: "row", role: "group", "aria-label": "Features" },
      s.features.map((feature) => button({
      key: feature.name, class: "switch", role: "switch", "aria-checked": String(feature.enabled),
      onclick: () => flipFeature(s, feature.name),
    }, h("span", { class: "track", "aria-hidden": "true" }), plain(feature.name)))),
    at.endpoint.context.length > 0 && setPicker(),
    s.kind !== "address" && s.host_open ? h("span", { class: "row" }, h("label", { for: "host" }, "Host:"),
      entry("host", s.host, setHost, { class: "quietly", size: Math.max(12, s.host.length) }),
      h("label", { for: "host", class: "pencil", "aria-hidden": "true" }, "✎"))
      : s.kind === "address" && h("span", {}, "Host: ", value(s.host)),
    at.endpoint.method === "get" && data !== "sample" && h("label", { class: "row" },
      h("input", {
        type: "checkbox", id: "auto", checked: state.auto,
        onchange: (event) => change((state) => { state.auto = event.target.checked; }),
      }), "Send on change"));
}

/** arrival shows what the switch of a feature did to the request. @param {Current} at */
function arrival(at) {
  const { arrived } = state;
  if (arrived?.id !== at.id) return null;
  const { feature, added, removed } = arrived;
  const sent = at.endpoint.context.filter((item) => added.includes(item.key));
  const lines = decoded(currentDraft()?.ctx ?? "").split("\n").slice(1, -1).map((line) => line.trim());
  const isNew = (/** @type {string} */ line) => sent.some((item) => line.startsWith(JSON.stringify(item.sent_as)));
  return h("div", { class: "arrival", role: "status", id: "arrival", key: "arrival" + added + removed },
    h("p", { class: "row" }, value(feature, "strong"),
      added.length > 0 && ["adds", added.map((key) => chip(key, "arrived"))],
      removed.length > 0 && ["takes away", removed.map((key) => chip(key, "lost"))],
      added.length + removed.length === 0 && "changes nothing for this endpoint.",
      added.length > 0 && lines.some(isNew) && ["→", code("ctx"), "="],
      lines.some(isNew) && h("code", { class: "arrived-ctx" }, "{ ",
        lines.map((line) => h("span", { class: isNew(line) ? "arrived" : "" }, plain(line), " ")), "}"),
      added.length > 0 && !lines.some(isNew)
        && h("span", { class: "quiet" }, "It is sent once it has a value, under “What the app adds”.")),
    button({ class: "small", "aria-label": "Close", onclick: () => change((state) => { state.arrived = null; }) },
      "×"));
}

/** @param {string} send */
function chooseData(send) {
  go({ send }, { replace: true });
  if (send === "origin" && !sendTo()) after(() => byId("send-to")?.focus());
}

/** entry is a field of the line. Leaving it, or Enter, sets what was typed.
 * @param {string} id @param {string} now @param {(text: string) => unknown} set @param {Props} props */
const entry = (id, now, set, props) => h("input", {
  id, key: id + now, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  created: (node) => { node.value = now; }, onchange: (event) => set(event.target.value), ...props,
  onkeydown: (event) => { if (event.key === "Escape") event.target.value = now; },
});

/** setPicker chooses the set of test values. */
function setPicker() {
  const set = contextSet();
  return h("span", { class: "row", key: "set" }, h("label", { for: "set" }, "As:"),
    choice({
      id: "set", class: "quietly", value: set.id,
      title: "What the app knows about its user and device. The values stay in this tab.",
    }, (id) => change((state) => { state.set = id; }), state.sets.map((other) => [other.id, other.name])));
}

/** blank says why there is no endpoint to show, and what to do. @param {Source} s @returns {Child[]} */
function blank(s) {
  const v = version(s);
  const name = value(serviceName(s));
  const errors = s.findings.filter((f) => f.severity === "error").length;
  const title = (/** @type {Child[]} */ ...words) => h("h2", {}, words);
  const action = (/** @type {() => void} */ onclick, /** @type {Child[]} */ ...words) =>
    button({ class: "primary", onclick }, words);
  if (s.empty && s.path) {
    return [title(name, " is empty"),
      h("p", {}, "Begin with a commented definition that works, and change it in your editor."),
      action(() => start(s.id), "Write the starter into it"),
        state.failures.fix && failureBox(state.failures.fix, "fix-failure")];
  }
  if (s.versions.length === 0 && errors > 0) {
    return [title(name, " has ", count(errors, "error")),
      h("p", {}, "Fix the problems and save; this page reloads automatically."),
      action(() => go({ view: "problems" }), "Show the problems")];
  }
  if (s.versions.length === 0) return [title(name),
    s.failure ? "It could not be read." : "There is nothing to show for this host."];
  const first = action(() => choose(s.id), "Show the first endpoint");
  if (!v) return [title("There is no version ", value(state.route.version), " of ", name), first];
  if (state.route.endpoint === "") {
    return [title("No endpoints"),
      s.kind === "address" ? "This manifest has no endpoints. When the service has some, press Update."
      : "This definition has no endpoints yet. Add one and save the file; this page reloads automatically."];
  }
  const id = endpointID(state.route);
  const again = v.endpoints.find((e) => e.name === state.names[id]);
  const reopen = (/** @type {Endpoint} */ { key }) =>
    openEndpoint({ source: s.id, version: v.name, key }, "", state.typed[id]);
  return [
    title("This endpoint is gone"),
    h("p", {}, name, " has no endpoint ", value(state.route.endpoint, "url"), " in ", plain(v.name || "its manifest"),
      "."),
    again ? action(() => reopen(again), "Open ", value(again.name), " at ", value(again.key))
      : v.endpoints.length > 0 && first,
  ];
}
