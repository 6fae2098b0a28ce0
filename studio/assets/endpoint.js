// The endpoint: what editors set, what the entry fills in, and what the app adds.

import { currentDraft, openEndpoint, type, typeContext } from "./actions.js";
import { button, choice, code, count, h, linkButton, list, plain, plainLines, typing, value } from "./dom.js";
import { decoded } from "./json.js";
import { fold, keys, lineLink, whyOther } from "./parts.js";
import { go } from "./route.js";
import {
  contextSet, contextValue, defaultOf, destination, elsewhere, marksOf, paramsOf, sendOf, typedFor, valueOf,
} from "./select.js";
import { change, state } from "./store.js";
import { number, small, usageOf, usageSpan } from "./usage.js";

/** endpointPane is the pane of the controls. @param {Current} at */
export function endpointPane(at) {
  const { endpoint: e } = at;
  const params = paramsOf(e);
  const usage = usageAt(at);
  return h("section", { class: "pane endpoint", "aria-labelledby": "endpoint-name", key: at.id },
    h("h2", { id: "endpoint-name", tabindex: "-1" }, value(e.name)),
    usage && h("p", { class: "quiet", id: "endpoint-usage", title: usageSpan() },
      usage.requests === 0 ? "No request called it"
      : [h("strong", {}, number(usage.requests)), " requests", usage.errors > 0 && `, ${number(usage.errors)} failed`]),
    warnings(at),
    e.placeholders.length > 0 && group("locator", "What the entry fills in", null,
      e.placeholders.map((name) => placeholderRow(at, name))),
    params.length > 0 && group("controls", "What editors set", resetAll(at, params),
      e.modifiers.flatMap((m, i) => [modifierRows(at, m), foundAt(at, `modifiers[${i}]`)])),
    e.placeholders.length + params.length + e.context.length === 0
      && h("p", { class: "blank-line", id: "nothing" },
        "Nothing to fill in: this endpoint has no modifiers and no context keys."),
    e.context.length > 0 && contextPart(at),
    fold("details", [h("strong", {}, "Details"), " ", h("span", { class: "quiet" }, value(e.mime_type), ", ",
      count(e.modifiers.length, "modifier"), e.foreign && ", third party")], details(at)));
}

/** lacksKey reports whether a required key has no value. @param {Current} at */
export const lacksKey = (at) => at.endpoint.context.some((item) =>
  item.required && item.sent && contextValue(destination(at), item.key).text === "");

/** contextPart has the keys that the app adds. @param {Current} at */
function contextPart(at) {
  const { context } = at.endpoint;
  return fold("context", [h("strong", {}, "What the app adds"), " ",
    h("span", { class: "quiet" }, `${count(context.length, "key")}: `,
      value(context.map((item) => item.key).join(", ")))], [
    h("p", { class: "hint" }, "Values of “", value(contextSet().name), "”",
      sendOf(at.source) !== "sample" && [", for ", value(destination(at))]),
    context.map((item, i) => [contextRow(at, item), foundAt(at, `context_obj[${i}]`)]),
    travel(),
  ]);
}

/** @param {Current} at @param {Param[]} params @returns {Child} */
function resetAll(at, params) {
  const changed = params.filter((param) => valueOf(param, typedFor(at)) !== defaultOf(param)).length;
  const reset = () => params.forEach((param) => type("modifiers", param.key, undefined));
  return changed > 1 && linkButton(reset, "reset all");
}

/** details are what editors do not need. @param {Current} at @returns {Child} */
function details(at) {
  const { source: s, version: v, endpoint: e } = at;
  return h("dl", { class: "headers" },
    h("dt", {}, "URL"), h("dd", {}, value(e.key)),
    h("dt", {}, "Method"), h("dd", {}, e.method.toUpperCase()),
    h("dt", {}, "Type"), h("dd", {}, value(e.mime_type)),
    e.foreign && [h("dt", {}, "Host"), h("dd", {}, "a third party’s, not that of the manifest")],
    h("dt", {}, "From"), h("dd", {}, value(s.path || s.id), v.name && [", ", value(v.name)]),
    e.modifiers.map((m) => m.params.map((p) => [h("dt", {}, value(p.label || p.key)), h("dd", {},
      code(p.key), ", ", plain(p.control), p.default !== null && [", default ", value(p.default || "empty")],
      m.name !== p.label && [", ", value(m.name)])])));
}

/** @param {string} id @param {string} title @param {Child} fact @param {Child[]} rows */
const group = (id, title, fact, rows) => h("section", { class: "group", id, key: id, "aria-labelledby": id + "-title" },
  h("h3", { id: id + "-title" }, title, " ", h("span", { class: "fact" }, fact)), rows);

/** warnings are what keeps the feed from being what it seems. @param {Current} at @returns {Child} */
function warnings(at) {
  const { source: s, version: v, endpoint: e } = at;
  const owner = currentDraft()?.owner;
  const losing = (state.server.overlap.get(at.id)?.under ?? []).filter((other) => other.lost_keys.length > 0);
  const { lost, problems, errors } = marksOf(s, v)(e);
  return [
    e.deprecated && h("p", { class: "banner notable", id: "deprecated", key: "deprecated" }, plain(e.deprecated)),
    owner && h("div", { class: "banner bad", id: "owner", role: "alert", key: "owner" },
      h("p", {}, h("strong", {}, "This feed belongs to ", value(owner.winner.name), ": "), plain(whyOther(owner, e)),
        "."),
      h("p", {}, owner.context_obj.length ? ["Apps send ", keys(owner.context_obj.map((item) => item.key)), " with it"]
        : "Apps send no context keys with it",
        ", as ", value(owner.winner.name), " declares",
        owner.winner.source !== s.id && [" in ", value(owner.winner.source)], ". ",
        linkButton(() => openEndpoint(owner.winner, owner.feed), "Open ", value(owner.winner.name)))),
    losing.length > 0 && h("div", { class: "banner bad", id: "lost", key: "lost" },
      h("p", {}, h("strong", {}, "Feeds here lose ", keys(lost), ". "),
        list(losing.map((other) => value(other.name, "strong"))), losing.length === 1 ? " declares " : " declare ",
        lost.length === 1 ? "it" : "them", losing.length === 1 ? ", but is" : ", but are",
        " shadowed: only the endpoint with the longest matching URL counts, and that is this one. ",
        linkButton(() => go({ view: "map" }), "Show on the map"))),
    problems > 0 && h("div", { key: "problems" }, errors && foundAt(at, ""),
      h("p", { class: "blank-line" }, linkButton(() => go({ view: "problems" }), count(problems, "problem")),
        " with this endpoint")),
  ];
}

/** row is one control: label and key in one place, the control, and below it what is wrong.
 * @param {string} name of the field: param:, modifier: or context: and a name
 * @param {{ label: string, key: string, id: string, control: Child, about?: Child, below?: Child }} parts */
function row(name, { label, key, id, control, about, below }) {
  const wrong = messageOf(name);
  return h("div", { class: `field of-${name.split(":")[0]}` + (wrong ? " wanting" : ""), key: name,
    "data-field": name },
    h("div", { class: "field-name" },
      id ? h("label", { for: id }, value(label)) : h("span", { class: "label", "aria-hidden": "true" }, value(label)),
      h("span", { class: "field-key" }, value(key)), about),
    h("div", { class: "field-control" }, control,
      wrong && h("p", { class: "failure", id: id + "-failure" }, plain(wrong)), below));
}

/** foundAt shows what lint found in a part of the endpoint, such as modifiers[1].
 * @param {Current} at @param {string} field */
const foundAt = ({ source: s, endpoint: e }, field) => s.findings.filter((f) => f.key === e.key && f.field === field)
  .map((f) => h("p", { class: f.severity === "error" ? "failure" : "problem" }, plain(f.message), " ", lineLink(s, f)));

/** messageOf says what is wrong with a field, once that is worth saying. @param {string} name */
function messageOf(name) {
  const problem = currentDraft()?.problems.find((p) => p.field === name);
  if (!problem) return "";
  const empty = name.startsWith("param:") || problem.context;
  return !empty || state.attention ? problem.message : "";
}

/** @param {string} name @param {string} id */
const described = (name, id) =>
  (messageOf(name) ? { "aria-invalid": "true", "aria-describedby": id + "-failure" } : {});

const plainText = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };

/** @param {Current} at @param {string} name */
function placeholderRow(at, name) {
  const id = "param-" + name;
  const typed = typedFor(at).params;
  const now = Object.hasOwn(typed, name) ? typed[name] : "";
  const offered = now === "" && sendOf(at.source) === "sample" && name.replace(/_id$/, "") + "-1";
  return row("param:" + name, {
    label: name, key: `{{${name}}}`, id,
    control: h("input", {
      ...plainText, id, value: now, "aria-required": "true", placeholder: "required", ...described("param:" + name, id),
      oninput: (event) => type("params", name, event.target.value),
    }),
    below: offered && h("p", { class: "row" }, h("span", { class: "hint" }, "Try"),
      button({ class: "small", onclick: () => type("params", name, offered) }, value(offered))),
  });
}

/** @param {Current} at @param {Modifier} modifier @returns {Child[]} */
function modifierRows(at, modifier) {
  const rows = modifier.params.map((param) => paramRow(at, param, modifier));
  if (modifier.params.length === 1) return rows;
  return [h("div", { class: "together", role: "group", "aria-label": plain(modifier.name),
    key: "modifier:" + modifier.id },
    h("p", { class: "quiet" }, value(modifier.name)), rows)];
}

/** @param {Current} at @param {Param} param @param {Modifier} modifier */
function paramRow(at, param, modifier) {
  const name = "modifier:" + param.key;
  const id = "modifier-" + param.key;
  const now = valueOf(param, typedFor(at));
  const preset = defaultOf(param);
  const reset = () => {
    type("modifiers", param.key, undefined);
    const input = document.getElementById(id) ?? document.querySelector(`#${CSS.escape(id)}-group input`);
    /** @type {HTMLElement | null} */ (input)?.focus();
  };
  return row(name, {
    label: param.label || param.key, key: "?" + param.key, id: param.control === "boolean" ? "" : id,
    about: [modifier.deprecated && h("span", { class: "problem about" }, plain(modifier.deprecated)),
      small(usageAt(at)?.params[param.key]?.set, usageAt(at)?.requests, "set it")],
    control: [control(param, now, name, id), optionShares(at, param)],
    below: now !== preset && h("p", { class: "back-to" }, button({
      class: "link", onclick: reset,
      "aria-label": plain(`${preset === "" ? "Clear" : "Reset"} ${param.label || param.key}`),
    }, preset === "" ? "clear" : ["back to ", value(shown(param, preset))])),
  });
}

/** @param {Current} at */
const usageAt = (at) => usageOf(at.source, at.version.name, at.endpoint.key);

/** optionShares says how often each option is set. @param {Current} at @param {Param} param */
function optionShares(at, param) {
  const usage = usageAt(at);
  const used = usage && usage.requests > 0 && usage.params[param.key]?.options;
  return used && h("ul", { class: "option-shares", "aria-label": "Usage" }, param.options.map((option) =>
    h("li", { key: option.value }, value(option.label || option.value), " ",
      small(used[option.value] ?? 0, usage.requests, "set it"))));
}

/** shown is how a control shows a value. @param {Param} param @param {string} text */
function shown(param, text) {
  if (param.control === "boolean") return text === "true" ? "on" : "off";
  return param.options.find((option) => option.value === text)?.label || text;
}

// What the value of a control is while its field has something that is no number, which browsers do not tell.
const noNumber = "text";

/** @param {Param} param @param {string} now @param {string} name @param {string} id */
function control(param, now, name, id) {
  const set = (/** @type {string} */ text) => type("modifiers", param.key, text);
  const oninput = (/** @type {any} */ event) => set(event.target.value);
  switch (param.control) {
    case "boolean": // radio buttons that look like one control
      return h("fieldset", { class: "segments", id: id + "-group", title: plain(param.placeholder) || undefined },
        h("legend", { class: "unseen" }, plain(param.label)),
        [["", "not set"], ["false", "off"], ["true", "on"]].map(([text, label]) => h("label", { key: text },
          h("input", { type: "radio", name: id + "-group", value: text, checked: now === text,
            onchange: () => set(text) }),
          h("span", {}, label))));
    case "select":
      return choice({ id, value: now, ...described(name, id) }, set,
        [["", param.placeholder || "Not set"],
          ...param.options.map((option) => [option.value, option.label || option.value])]);
    case "number":
      return h("input", {
        id, type: "number", step: "any", autocomplete: "off", placeholder: plain(param.placeholder),
        value: now === noNumber ? typing : now, ...described(name, id),
        oninput: (event) => set(event.target.validity.badInput ? noNumber : event.target.value),
      });
    default:
      return h("input", { ...plainText, id, placeholder: plain(param.placeholder), value: now, ...described(name, id),
        oninput });
  }
}

/** @param {Current} at @param {ContextField} item */
function contextRow(at, item) {
  const name = "context:" + item.key;
  const id = "context-" + item.key;
  const to = destination(at);
  const now = contextValue(to, item.key);
  const other = now.text === "" && item.sent && elsewhere(to, item.key);
  const masked = !state.shown[item.key];
  const carrier = item.type === "bodyParam" ? "body" : item.type;
  return row(name, {
    label: item.key, key: item.sent_as === item.key ? carrier : `${carrier}: ${item.sent_as}`, id,
    about: h("span", { class: "quiet about" },
      h("span", { class: item.required ? "strong" : "" }, item.required ? "required" : "optional"),
      item.feature && [", from ", value(item.feature)], item.about && [h("br"), value(item.about)]),
    control: !item.sent
      ? h("p", { class: "quiet", id }, "Not sent: ",
        item.type === "bodyParam" ? "it belongs in the body, and a GET request has none."
          : "Signpost does not know its type.")
      : h("div", { class: "row secret" },
        h("input", {
          ...plainText, id, type: masked ? "password" : "text", value: now.text,
          "aria-required": item.required ? "true" : undefined,
          ...described(name, id), oninput: (event) => typeContext(item.key, { text: event.target.value }, to),
        }),
        button({
          class: "small", "aria-label": plain(`${masked ? "Show" : "Hide"} ${item.key}`),
          "aria-pressed": String(!masked),
          onclick: () => change((state) => { state.shown[item.key] = masked; }),
        }, masked ? "Show" : "Hide"),
        choice({ class: "small", "aria-label": plain(`Type of ${item.key}`), value: now.json ? "json" : "text" },
          (type) => typeContext(item.key, { text: now.text, json: type === "json" }, to),
          [["text", "text"], ["json", "JSON"]])),
    below: other && h("p", { class: "hint" }, "A value was entered for ", value(other), ". ",
      linkButton(() => typeContext(item.key, contextValue(other, item.key), to), "Use it here, too")),
  });
}

/** travel shows how the context keys are sent. @returns {Child} */
function travel() {
  const draft = currentDraft();
  if (!draft || (draft.ctx === "" && draft.body === "")) return null;
  return h("details", { key: "travel", id: "travel" },
    h("summary", {}, "How they are sent"),
    draft.ctx !== "" && [
      h("p", { class: "quiet" }, "In the query parameter ", h("code", {}, "ctx"), ", as base64url-encoded JSON:"),
      h("pre", { class: "code wrap", id: "ctx", tabindex: "0", "aria-label": "ctx, encoded" }, plain(draft.ctx)),
      h("pre", { class: "code", id: "decoded", tabindex: "0", "aria-label": "ctx, decoded" },
        plainLines(decoded(draft.ctx))),
    ],
    draft.body !== "" && [
      h("p", { class: "quiet" }, "In the body, as ", value(draft.body_type), ":"),
      h("pre", { class: "code wrap", id: "body", tabindex: "0", "aria-label": "Body" }, plain(draft.body)),
    ]);
}
