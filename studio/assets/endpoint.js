// The endpoint that is looked at: its fields, the request that they make, and the answer to it.

import { call } from "./api.js";
import { announce, badge, byId, code, copies, count, el, fill, plain, show, value } from "./dom.js";

let shown = null; // { source, version, endpoint, signature }
let draft = null; // what the server made of the fields
let fields = new Map(); // by "param:", "modifier:" or "context:" and a name

// What was typed is kept by the page alone, and outlives changes of the file: placeholders and modifiers by endpoint,
// context keys by source, since an app has one value for each. What was not typed is the default.
const typed = new Map();
const contexts = new Map();

// keyOf names an endpoint whatever its host is.
function keyOf(source, version, endpoint) {
  const url = endpoint.foreign ? endpoint.url : endpoint.url.replace("://" + source.host, "://{{host}}");
  return JSON.stringify([source.name, version, url]);
}

function typedFor({ source, version, endpoint }) {
  const key = keyOf(source, version, endpoint);
  if (!typed.has(key)) typed.set(key, { params: new Map(), modifiers: new Map() });
  if (!contexts.has(source.name)) contexts.set(source.name, new Map());
  return { ...typed.get(key), context: contexts.get(source.name) };
}

// showEndpoint shows an endpoint. If it is the one that is shown already, the fields stay as they are.
export function showEndpoint(source, version, endpoint) {
  const signature = JSON.stringify([source.id, version, endpoint]);
  const same = shown && shown.signature === signature;
  const sameEndpoint = shown && keyOf(shown.source, shown.version, shown.endpoint) === keyOf(source, version, endpoint);
  shown = { source, version, endpoint, signature };
  if (same) return;
  if (!sameEndpoint) forgetAnswer();

  const focused = [...fields].find(([, field]) => field.input === document.activeElement);
  fields = new Map();
  fill(byId("endpoint-name"), value(endpoint.name));
  fill(byId("endpoint-facts"),
    badge(endpoint.method.toUpperCase(), endpoint.method === "post" ? "post" : "get"),
    code(endpoint.mime_type),
    endpoint.foreign && badge("another host", "notable"));
  fill(byId("endpoint-url"), ...urlTokens(endpoint.url, null));

  const values = typedFor(shown);
  fill(byId("locator-fields"), endpoint.placeholders.map((name) => placeholderField(name, values.params)));
  show(byId("locator"), endpoint.placeholders.length > 0);
  fill(byId("controls"), endpoint.modifiers.map((modifier) => modifierFields(modifier, values.modifiers)));
  show(byId("controls-blank"), endpoint.modifiers.length === 0);
  fill(byId("context"), endpoint.context.map((item) => contextField(item, values.context)));
  show(byId("context-blank"), endpoint.context.length === 0);
  draft = null;
  byId("feed-problem").textContent = "";
  previous = new Map();
  fill(byId("feed-url"), ...urlTokens(endpoint.url, null));
  if (focused) restoreFocus(focused);
  compose();
}

function restoreFocus([name, before]) {
  const field = fields.get(name);
  if (!field) return;
  field.input.focus({ preventScroll: true });
  if (before.input.type === "text" && field.input.type === "text") {
    field.input.setSelectionRange(before.input.selectionStart, before.input.selectionEnd);
  }
}

let lastID = 0;
const newID = () => `field-${++lastID}`;

// addField makes the frame around an input: label above it, help and what is wrong below.
function addField(name, input, { label, key, badges = [], help, wide }) {
  input.id = newID();
  const failure = el("p", { class: "failure", id: input.id + "-failure", hidden: true });
  const foot = el("div", { class: "field-foot", id: input.id + "-help" }, help);
  input.setAttribute("aria-describedby", `${foot.id} ${failure.id}`);
  const field = { input, failure, foot, refresh() {} };
  fields.set(name, field);
  field.node = el("div", { class: "field" + (wide ? " wide" : "") },
    el("div", { class: "field-head" }, el("label", { for: input.id }, value(label)), badges, key && code(key)),
    input.type === "checkbox" ? switchOf(input) : input,
    foot, failure);
  return field;
}

const switchOf = (input) => el("div", { class: "switch-row" },
  el("label", { class: "switch", for: input.id }, input, el("span", { class: "track", "aria-hidden": "true" })),
  el("output", { for: input.id }));

const textInput = (props) => el("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...props });

function placeholderField(name, values) {
  const input = textInput({ "aria-required": "true" });
  input.value = values.get(name) ?? "";
  input.addEventListener("input", () => { values.set(name, input.value); compose(); });
  return addField("param:" + name, input, { label: name, key: `{{${name}}}`, badges: [badge("required", "required")] }).node;
}

function contextField(item, values) {
  const input = textInput({ "aria-required": item.required && item.sent ? "true" : null, disabled: !item.sent });
  input.value = item.sent ? values.get(item.key) ?? "" : "";
  input.addEventListener("input", () => { values.set(item.key, input.value); compose(); });
  const place = item.type === "bodyParam" ? "in the body" : ["in ", el("code", {}, "ctx")];
  const help = item.sent
    ? ["Sent ", place, item.sent_as === item.key ? "" : [" as ", code(item.sent_as)]]
    : `Not sent: it goes into the body, and a ${shown.endpoint.method} request has none.`;
  const badges = [item.required ? badge("required", "required") : badge("optional")];
  return addField("context:" + item.key, input, { label: item.key, badges, help: el("span", {}, help) }).node;
}

function modifierFields(modifier, values) {
  if (modifier.params.length === 1) return paramField(modifier.params[0], modifier.name, values);
  return el("fieldset", { class: "group" }, el("legend", {}, value(modifier.name)),
    el("div", { class: "fields" }, modifier.params.map((param) => paramField(param, "", values))));
}

// current returns the value of a control: what was typed, if that still fits, or else the default.
function current(param, values) {
  const fits = (text) => text === ""
    || (param.control === "select" ? param.options.some((option) => option.value === text)
      : param.control !== "toggle" || text === "true" || text === "false");
  const own = values.get(param.key);
  if (own !== undefined && fits(own)) return own;
  return param.default !== null && fits(param.default) ? param.default : "";
}

function paramField(param, name, values) {
  const start = current(param, values);
  let input;
  switch (param.control) {
    case "toggle":
      input = el("input", { type: "checkbox", role: "switch" });
      input.checked = start === "true";
      break;
    case "select":
      input = el("select", {},
        el("option", { value: "" }, plain(param.placeholder || "Not set")),
        param.options.map((option) => el("option", { value: option.value }, plain(option.label || option.value))));
      input.value = start;
      break;
    case "number":
      input = el("input", { type: "number", step: "any", autocomplete: "off", placeholder: param.placeholder });
      input.value = start;
      break;
    default:
      input = textInput({ placeholder: param.placeholder });
      input.value = start;
  }

  const reset = el("button", { type: "button", class: "link" });
  const fact = param.default === null ? "no default" : ["default ", param.default === "" ? "empty" : code(param.default)];
  const tip = param.control === "toggle" && param.placeholder ? [" · ", value(param.placeholder)] : [];
  const help = [el("span", {}, name && name !== param.label ? [value(name), " · "] : [], fact, tip), reset];
  const field = addField("modifier:" + param.key, input, { label: param.label, key: param.key, help });

  field.refresh = () => {
    const now = current(param, values);
    if (param.control === "toggle") field.node.querySelector("output").textContent = now === "" ? "not set" : now;
    const initial = param.default ?? "";
    reset.hidden = now === initial && !input.validity.badInput;
    reset.textContent = param.default === null ? "Clear" : "Reset";
    reset.setAttribute("aria-label", plain(`${reset.textContent} ${param.label}`));
  };
  const set = (text) => { values.set(param.key, text); field.refresh(); compose(); };
  input.addEventListener(param.control === "toggle" || param.control === "select" ? "change" : "input", () => {
    set(param.control === "toggle" ? String(input.checked) : input.value);
  });
  reset.addEventListener("click", () => {
    values.delete(param.key);
    if (param.control === "toggle") input.checked = current(param, values) === "true";
    else input.value = current(param, values);
    field.refresh();
    compose();
    input.focus();
  });
  field.refresh();
  return field.node;
}

// filled is what the server needs to know to compose or send.
function filled() {
  const { source, version, endpoint } = shown;
  const values = typedFor(shown);
  const pick = (names, get) => Object.fromEntries(names.map((name) => [name, get(name)]).filter(([, text]) => text));
  const params = endpoint.modifiers.flatMap((modifier) => modifier.params);
  return {
    source: source.id,
    version,
    endpoint: endpoint.url,
    params: pick(endpoint.placeholders, (name) => values.params.get(name)),
    modifiers: Object.fromEntries(params.map((param) => [param.key, current(param, values.modifiers)])),
    context: pick(endpoint.context.filter((item) => item.sent).map((item) => item.key), (key) => values.context.get(key)),
  };
}

let turn = 0;

// compose asks for the request, and shows the answer unless another was asked for since.
async function compose() {
  const mine = ++turn;
  answerIsOld();
  await new Promise((resolve) => setTimeout(resolve, 30)); // several keys at once are one change
  if (mine !== turn) return;
  try {
    const result = await call("/api/compose", filled());
    if (mine === turn) showDraft(result);
  } catch (refused) {
    if (mine === turn) byId("feed-problem").textContent = refused.message;
  }
}

function showDraft(result) {
  draft = result;
  fill(byId("feed-url"), ...urlTokens(draft.url, previous));
  const [first, ...others] = draft.problems;
  byId("feed-problem").textContent = !first ? "" : plain(first.message) + (others.length ? ` And ${count(others.length, "more field")}.` : "");
  for (const [name, field] of fields) {
    const problem = draft.problems.find((p) => p.field === name);
    const wrong = problem && name.startsWith("modifier:") || field.input.validity.badInput;
    field.node.classList.toggle("wanting", Boolean(problem));
    field.input.setAttribute("aria-invalid", Boolean(wrong));
    field.failure.textContent = field.input.validity.badInput ? "This is not a number." : wrong ? plain(problem.message) : "";
    show(field.failure, wrong);
  }
  const hasCtx = shown.endpoint.context.some((item) => item.type === "ctx");
  byId("ctx").textContent = draft.ctx || (hasCtx ? "Nothing yet: fill in a context key." : "No ctx: no context key travels in it.");
  byId("ctx").classList.toggle("none", !draft.ctx);
  byId("decoded").textContent = draft.decoded || "{}";
  byId("decoded").classList.toggle("none", !draft.decoded);
  show(byId("copy-ctx"), draft.ctx !== "");
  const hasBody = shown.endpoint.context.some((item) => item.type === "bodyParam" && item.sent);
  show(byId("travel-body"), hasBody);
  show(byId("body-part"), hasBody);
  byId("body-label").textContent = draft.body_type ? `Body, ${draft.body_type}` : "Body";
  byId("body").textContent = draft.body || "Empty.";
  byId("body").classList.toggle("none", !draft.body);
  byId("curl").textContent = draft.curl || "Not possible for this URL.";
  show(byId("copy-curl"), draft.curl !== "");
}

let previous = new Map(); // the query of the URL before, to show what has changed

// urlTokens returns a URL in parts that can be told apart. Open placeholders lead to their fields.
function urlTokens(url, before) {
  const part = (text, kind) => el("span", { class: kind }, plain(text));
  const match = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(url);
  if (!match) return [part(url, "path")];
  const [, scheme, authority, path, query = "", fragment = ""] = match;
  const nodes = [part(scheme, "scheme"), part(authority, "authority")];
  for (const text of path.split(/(\{\{[^{}]*\}\})/)) {
    if (!text.startsWith("{{")) nodes.push(part(text, "path"));
    else if (!before) nodes.push(part(text, "open"));
    else nodes.push(el("button", { type: "button", class: "open", title: "Fill it in",
      onclick: () => fields.get("param:" + text.slice(2, -2))?.input.focus() }, plain(text)));
  }
  const seen = new Map();
  for (const [i, pair] of (query ? query.slice(1).split("&") : []).entries()) {
    const at = pair.indexOf("=");
    const key = at < 0 ? pair : pair.slice(0, at);
    const text = at < 0 ? "" : pair.slice(at + 1);
    const changed = before && before.size > 0 && before.get(key) !== text;
    seen.set(key, text);
    nodes.push(part(i ? "&" : "?", "mark"), part(key, "key"), part("=", "mark"),
      part(text, "value" + (key === "ctx" ? " ctx" : "") + (changed ? " changed" : "")));
  }
  if (fragment) nodes.push(part(fragment, "path"));
  if (before) {
    seen.set("", ""); // so that a URL without a query counts as one that was shown
    previous = seen;
  }
  return nodes;
}

function forgetAnswer() {
  answered = false;
  sending++;
  fill(byId("answer-body"), el("p", { class: "blank-line" }, "Press Send to see what the service answers: status, type and body."));
}

let sending = 0; // counts requests, so that a late answer is not shown for another
let answered = false;

function answerIsOld() {
  if (answered) byId("answer").classList.add("old");
}

async function send() {
  if (!shown) return;
  if (!draft) await compose();
  const first = draft?.problems[0];
  if (first) {
    const field = fields.get(first.field);
    if (field) field.input.focus();
    announce(first.message);
    return;
  }
  const mine = ++sending;
  const button = byId("send");
  button.setAttribute("aria-busy", "true");
  byId("answer").classList.remove("old");
  fill(byId("answer-body"), el("p", { class: "blank-line waiting" }, "Waiting for the answer…"));
  try {
    const result = await call("/api/send", filled());
    if (mine === sending) showAnswer(result);
  } catch (refused) {
    if (mine !== sending) return;
    fill(byId("answer-body"), el("div", { class: "banner bad", role: "alert" },
      el("p", {}, el("strong", {}, plain(refused.message))), refused.hint && el("p", {}, plain(refused.hint))));
  } finally {
    if (mine === sending) {
      answered = true;
      byId("answer").scrollIntoView({ block: "nearest" });
    }
    button.removeAttribute("aria-busy");
  }
}

function showAnswer(a) {
  const kind = a.status < 300 ? "good" : a.status < 400 ? "notable" : "bad";
  const size = a.bytes < 1024 ? count(a.bytes, "byte") : `${(a.bytes / 1024).toFixed(1)} KiB`;
  const notes = a.example ? ["The studio has answered by itself: the built-in example has no feeds anywhere else.", ...a.notes] : a.notes;
  fill(byId("answer-body"),
    el("p", { class: "facts" },
      badge(`${a.status} ${a.status_text}`, kind), code(a.content_type || "no content type"),
      el("span", {}, `${size}, ${a.millis} ms`), el("span", { class: "outdated" }, "sent before the last change")),
    notes.length > 0 && el("ul", { class: "notes" }, notes.map((note) => el("li", {}, plain(note)))),
    !a.binary && el("pre", { class: "code body", tabindex: "0", role: "group", "aria-label": "Body of the answer" }, a.body || "The body is empty."),
    el("details", {}, el("summary", {}, "Headers"),
      el("dl", {}, a.headers.map(([name, text]) => [el("dt", {}, name), el("dd", {}, plain(text))]))));
  announce(`Answer: ${a.status} ${a.status_text}`);
}

copies(byId("copy-url"), () => (draft ? draft.url : shown.endpoint.url));
copies(byId("copy-ctx"), () => draft.ctx);
copies(byId("copy-curl"), () => draft.curl);
byId("send").addEventListener("click", send);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && byId("main").contains(event.target)) {
    event.preventDefault();
    send();
  }
});
forgetAnswer();
