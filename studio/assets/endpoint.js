// The endpoint: what the entry, the editor and the app fill in, and the request that comes of it.

import { draftIsCurrent, focusField, open, sampleValue, type, typeContext } from "./actions.js";
import { badge, code, count, h, list, plain, typing, value } from "./dom.js";
import { copyButton, keys, segments, urlTokens, whyNot } from "./parts.js";
import { back, go } from "./route.js";
import { contextSet, contextValue, destination, elsewhere, nestingOf, paramsOf, riskOf, sendOf, typedFor, valueOf } from "./select.js";
import { change, state } from "./store.js";

/** @typedef {import("./select.js").Current} Current */
/** @typedef {import("./types.js").Param} Param */
/** @typedef {import("./types.js").Modifier} Modifier */
/** @typedef {import("./types.js").ContextField} ContextField */
/** @typedef {import("./dom.js").Child} Child */

/** endpointPane is the second pane. @param {Current} at */
export function endpointPane(at) {
  const { endpoint: e } = at;
  const params = paramsOf(e);
  return h("section", { class: "pane endpoint", "aria-labelledby": "endpoint-name", key: at.id },
    h("button", { type: "button", class: "back", onclick: () => back("list") }, "‹ Endpoints"),
    h("div", { class: "pane-head" },
      h("h2", { id: "endpoint-name", tabindex: "-1" }, value(e.name)),
      h("p", { class: "facts", id: "endpoint-facts" },
        badge(e.method.toUpperCase(), e.method === "post" ? "post" : "get"), code(e.mime_type), e.foreign && badge("third party", "notable", "Not on the host of the manifest")),
      h("p", { class: "url quiet", id: "endpoint-url" }, urlTokens(e.url, null))),
    warnings(at),
    e.placeholders.length > 0 && group("locator", "The entry fills in", "placeholders in the URL", e.placeholders.map((name) => placeholderRow(at, name))),
    params.length > 0 && group("controls", "Editors set", controlsFact(at, params), e.modifiers.flatMap((m) => modifierRows(at, m))),
    e.context.length > 0 && group("context", "The app adds", contextFact(at), e.context.map((item) => contextRow(at, item))),
    e.placeholders.length + params.length + e.context.length === 0
      && h("p", { class: "blank-line", id: "nothing" }, "Nothing to fill in: this endpoint has no modifiers and no context keys."),
    request(at));
}

/** @param {Current} at @param {Param[]} params @returns {Child} */
function controlsFact(at, params) {
  const changed = params.filter((param) => valueOf(param, typedFor(at)) !== (param.default ?? "")).length;
  return [count(at.endpoint.modifiers.length, "modifier"), changed > 0 && [` · ${changed} changed · `,
    h("button", { type: "button", class: "link", onclick: () => resetAll(params) }, "reset all")]];
}

/** @param {Param[]} params */
function resetAll(params) {
  change(() => { state.bad = {}; });
  for (const param of params) type("modifiers", param.key, undefined);
}

/** contextFact says where the values come from, and for whom they are. @param {Current} at @returns {Child} */
const contextFact = (at) => ["from the set “", value(contextSet().name), "”", sendOf(at.source) !== "sample" && [", for ", value(destination(at))]];

/** @param {string} id @param {string} title @param {Child} fact @param {Child[]} rows */
const group = (id, title, fact, rows) => h("section", { class: "group", id, key: id, "aria-labelledby": id + "-title" },
  h("h3", { id: id + "-title" }, title, " ", h("span", { class: "fact" }, fact)), rows);

/** warnings are what keeps the feed from being what it seems. @param {Current} at @returns {Child} */
function warnings(at) {
  const { source: s, version: v, endpoint: e } = at;
  const owner = draftIsCurrent() ? state.draft?.owner : null;
  const under = nestingOf(s, v, e)?.under ?? [];
  const losing = under.filter((other) => other.lost_keys.length > 0);
  const lost = [...new Set(losing.flatMap((other) => other.lost_keys))];
  const twins = nestingOf(s, v, e)?.twins ?? [];
  return [
    e.deprecated && h("p", { class: "banner notable", id: "deprecated", key: "deprecated" }, plain(e.deprecated)),
    owner && h("div", { class: "banner bad", id: "owner", role: "alert", key: "owner" },
      h("p", {}, h("strong", {}, "This feed belongs to ", value(owner.name), ": "), plain(owner.why), "."),
      h("p", {}, owner.context_obj.length ? ["Apps send ", keys(owner.context_obj.map((item) => item.key)), " with it"] : "Apps send no context keys with it",
        ", as ", value(owner.name), " declares", owner.source !== s.id && [" in ", value(owner.source)], ". ",
        h("button", { type: "button", class: "link", onclick: () => open(owner, state.draft?.url) }, "Open ", value(owner.name)))),
    losing.length > 0 && h("div", { class: "banner bad", id: "lost", key: "lost" },
      h("p", {}, h("strong", {}, "Feeds here lose ", keys(lost), ". "),
        list(losing.map((other) => value(other.name, "strong"))), losing.length === 1 ? " declares " : " declare ", lost.length === 1 ? "it" : "them",
        ", but only the endpoint with the longest matching URL counts, and that is this one."),
      h("p", {}, h("button", { type: "button", class: "link", onclick: () => go({ view: "map" }) }, "Show on the map"))),
    twins.length > 0 && h("div", { class: "banner notable", key: "twins", id: "twins" },
      h("p", {}, "The same URL is also registered by ", list(twins.map((name) => value(name))),
        riskOf(s, v, e).differs ? ", with a different method, type or context keys. It is undefined which one a studio uses." : ", with the same method, type and context keys.")),
    s.findings.some((f) => f.key === e.key) && h("p", { class: "blank-line", key: "findings" },
      h("button", { type: "button", class: "link", onclick: () => go({ view: "findings" }) }, count(riskOf(s, v, e).findings, "finding")), " about this endpoint"),
    draftIsCurrent() && (state.draft?.losers.length ?? 0) > 0 && !owner && losing.length === 0 && h("details", { key: "why", class: "why" },
      h("summary", {}, "Why this endpoint answers"),
      (state.draft?.losers ?? []).map((other) => h("p", {}, whyNot(other, e.name)))),
    draftIsCurrent() && state.draft?.inside_segment && h("p", { class: "blank-line", key: "inside" },
      "This endpoint’s URL ends in the middle of a path segment of the feed, so the match may be a coincidence."),
  ];
}

/**
 * row is one line of the table: label and key, control, default and reset.
 * @param {string} name of the field: param:, modifier: or context: and a name
 * @param {{ label: string, key: string, id: string, control: Child, about?: Child, fact?: Child, below?: Child }} parts
 */
function row(name, { label, key, id, control, about, fact, below }) {
  const wrong = messageOf(name);
  return h("div", { class: `field of-${name.split(":")[0]}` + (wrong ? " wanting" : ""), key: name, "data-field": name },
    h("div", { class: "field-name" }, id ? h("label", { for: id }, value(label)) : h("span", { class: "label", "aria-hidden": "true" }, value(label)), key !== label && h("span", { class: "field-key" }, value(key)), about),
    h("div", { class: "field-control" }, control, wrong && h("p", { class: "failure", id: id + "-failure" }, plain(wrong)), below),
    fact && h("div", { class: "field-fact" }, fact));
}

/** messageOf says what is wrong with a field, once that is worth saying. @param {string} name */
function messageOf(name) {
  if (state.bad[name]) return "This is not a number.";
  const problem = draftIsCurrent() ? state.draft?.problems.find((p) => p.field === name) : undefined;
  if (!problem) return "";
  const empty = name.startsWith("param:") || problem.context;
  return !empty || state.attention ? problem.message : "";
}

/** @param {string} name @param {string} id */
const described = (name, id) => ({ "aria-invalid": messageOf(name) ? "true" : undefined, "aria-describedby": messageOf(name) ? id + "-failure" : undefined });

const plainText = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };

/** @param {Current} at @param {string} name */
function placeholderRow(at, name) {
  const id = "param-" + name;
  const typed = typedFor(at).params;
  return row("param:" + name, {
    label: name, key: `{{${name}}}`, id, fact: "required",
    control: h("input", {
      ...plainText, id, value: Object.hasOwn(typed, name) ? typed[name] : "", "aria-required": "true", ...described("param:" + name, id),
      oninput: (/** @type {any} */ event) => type("params", name, event.target.value),
    }),
  });
}

/** @param {Current} at @param {Modifier} modifier @returns {Child[]} */
function modifierRows(at, modifier) {
  const rows = modifier.params.map((param) => paramRow(at, param, modifier));
  if (modifier.params.length === 1) return rows;
  return [h("div", { class: "together", role: "group", "aria-label": plain(modifier.name), key: "modifier:" + modifier.id },
    h("p", { class: "quiet" }, value(modifier.name)), rows)];
}

/** @param {Current} at @param {Param} param @param {Modifier} modifier */
function paramRow(at, param, modifier) {
  const name = "modifier:" + param.key;
  const id = "modifier-" + param.key;
  const now = valueOf(param, typedFor(at));
  const changed = now !== (param.default ?? "") || state.bad[name];
  const reset = () => {
    change(() => { delete state.bad[name]; });
    type("modifiers", param.key, undefined);
    (document.getElementById(id) ?? /** @type {HTMLElement | null} */ (document.querySelector(`#${CSS.escape(id)}-group input`)))?.focus();
  };
  const fact = changed
    ? h("button", { type: "button", class: "link", "aria-label": plain(`${param.default === null ? "Clear" : "Reset"} ${param.label}`), onclick: reset },
      param.default === null || param.default === "" ? "clear" : ["default ", value(param.default), " ↺"])
    : h("span", {}, param.default === null ? "no default" : "default");
  return row(name, {
    label: param.label || param.key, key: param.key, id: param.control === "toggle" ? "" : id, fact,
    about: [modifier.params.length === 1 && modifier.name !== param.label && h("span", { class: "quiet about" }, value(modifier.name)),
      modifier.deprecated && h("span", { class: "problem about" }, plain(modifier.deprecated))],
    control: control(param, now, name, id),
  });
}

/** @param {Param} param @param {string} now @param {string} name @param {string} id */
function control(param, now, name, id) {
  const set = (/** @type {string} */ text) => type("modifiers", param.key, text);
  switch (param.control) {
    case "toggle":
      return segments(id + "-group", param.label, [["", "not set"], ["false", "off"], ["true", "on"]].map(([text, label]) => ({
        value: text, label, checked: now === text, onchoose: () => set(text),
      })), { title: param.placeholder ? plain(param.placeholder) : undefined });
    case "select":
      return h("select", { id, value: now, ...described(name, id), onchange: (/** @type {any} */ event) => set(event.target.value) },
        h("option", { key: "", value: "" }, plain(param.placeholder || "Not set")),
        param.options.map((option, i) => h("option", { key: i, value: option.value }, plain(option.label || option.value))));
    case "number":
      return h("input", {
        id, type: "number", step: "any", autocomplete: "off", placeholder: plain(param.placeholder), value: state.bad[name] ? typing : now, ...described(name, id),
        oninput: (/** @type {any} */ event) => {
          const bad = event.target.validity.badInput;
          if (Boolean(state.bad[name]) !== bad) change(() => { state.bad[name] = bad; });
          if (!bad) set(event.target.value);
        },
      });
    default:
      return h("input", { ...plainText, id, placeholder: plain(param.placeholder), value: now, ...described(name, id), oninput: (/** @type {any} */ event) => set(event.target.value) });
  }
}

/** @param {Current} at @param {ContextField} item */
function contextRow(at, item) {
  const name = "context:" + item.key;
  const id = "context-" + item.key;
  const to = destination(at);
  const now = contextValue(to, item.key);
  const other = now.text === "" ? elsewhere(to, item.key) : undefined;
  const masked = !state.shown[item.key];
  const place = item.type === "bodyParam" ? "body" : item.type;
  return row(name, {
    label: item.key, key: item.sent_as === item.key ? place : `${place}: ${item.sent_as}`, id,
    about: h("span", { class: "quiet about" }, h("span", { class: item.required ? "strong" : "" }, item.required ? "required" : "optional"),
      item.feature && [", from ", value(item.feature)], item.about && [h("br"), value(item.about)]),
    control: !item.sent ? h("p", { class: "quiet", id }, `Not sent: it belongs in the body, and a ${at.endpoint.method.toUpperCase()} request has none.`)
      : h("div", { class: "row secret" },
        h("input", {
          ...plainText, id, type: masked ? "password" : "text", autocomplete: "off", value: now.text, "aria-required": item.required ? "true" : undefined, ...described(name, id),
          oninput: (/** @type {any} */ event) => typeContext(item.key, { text: event.target.value }, to),
        }),
        h("button", { type: "button", class: "small", "aria-label": plain(`${masked ? "Show" : "Hide"} ${item.key}`), "aria-pressed": String(!masked), onclick: () => change(() => { state.shown[item.key] = masked; }) }, masked ? "Show" : "Hide"),
        h("select", {
          class: "small", "aria-label": plain(`Type of ${item.key}`), value: now.json ? "json" : "text",
          onchange: (/** @type {any} */ event) => typeContext(item.key, { json: event.target.value === "json" }, to),
        }, h("option", { value: "text" }, "text"), h("option", { value: "json" }, "JSON"))),
    below: item.sent && [
      other && h("p", { class: "hint" }, "“", value(contextSet().name), "” has a value that was entered for ", value(other), ". ",
        h("button", { type: "button", class: "link", onclick: () => typeContext(item.key, contextValue(other, item.key), to) }, "Use it here, too")),
      !other && now.text === "" && sendOf(at.source) === "sample" && item.required && h("p", { class: "hint" },
        h("button", { type: "button", class: "link", onclick: () => typeContext(item.key, { text: sampleValue }, to) }, "Fill in a sample value")),
    ],
  });
}

/** request shows the request that comes of it all. @param {Current} at */
function request(at) {
  const draft = state.draft;
  const now = draftIsCurrent();
  const url = now && draft ? draft.url : null;
  const [first, ...others] = now && draft ? draft.problems : [];
  const bad = paramsOf(at.endpoint).find((param) => state.bad["modifier:" + param.key]);
  const snippet = draft?.snippets.find((other) => other.name === state.route.snippet) ?? draft?.snippets[0];
  return h("section", { class: "group request" + (now ? "" : " composing"), "aria-labelledby": "request-title", key: "request" },
    h("h3", { id: "request-title" }, "Request"),
    h("p", { id: "feed-url", class: "url code", tabindex: "0", role: "group", "aria-labelledby": "request-title" },
      urlTokens(url ?? (draft && draft.url) ?? at.endpoint.url, (name) => focusField("param:" + name))),
    h("p", { class: "problem", id: "feed-problem", role: "status" },
      state.connection === "lost" ? "The studio has stopped, so this may be out of date."
        : bad ? plain(`${bad.label || bad.key} is not a number.`)
        : first ? plain(first.message) + (others.length ? ` And ${count(others.length, "more field")}.` : "") : ""),
    now && draft && !bad && draft.snippets.length > 0 && snippet && [
      h("div", { class: "row", key: "snippets" }, segments("snippet", "Request as", draft.snippets.map((other) => ({
        value: other.name, label: other.name, checked: other === snippet, onchoose: () => go({ snippet: other.name }, { replace: true }),
      }))), copyButton("copy", () => snippet.text), copyButton("copy-link", () => location.href, "Copy link")),
      snippet.name !== "URL" && h("pre", { class: "code wrap", id: "snippet-text", tabindex: "0", "aria-label": plain(`Request as ${snippet.name}`), key: "snippet-text" }, plain(snippet.text)),
    ],
    now && draft && (draft.ctx !== "" || draft.body !== "") && h("details", { key: "travel", id: "travel" },
      h("summary", {}, "How the context keys are sent"),
      draft.ctx !== "" && [
        h("p", { class: "quiet" }, "In the query parameter ", h("code", {}, "ctx"), ", as base64url-encoded JSON:"),
        h("pre", { class: "code wrap", id: "ctx", tabindex: "0", "aria-label": "ctx, encoded" }, plain(draft.ctx)),
        h("pre", { class: "code", id: "decoded", tabindex: "0", "aria-label": "ctx, decoded" }, plainLines(draft.decoded)),
      ],
      draft.body !== "" && [
        h("p", { class: "quiet" }, "In the body, as ", value(draft.body_type), ":"),
        h("pre", { class: "code wrap", id: "body", tabindex: "0", "aria-label": "Body" }, plain(draft.body)),
      ]));
}

/** plainLines is plain for a text with lines. @param {string} text */
const plainLines = (text) => text.split("\n").map(plain).join("\n");

