// What the state means: which source, version and endpoint are looked at, what is filled in, and where requests go.

import { endpointID, own } from "./route.js";
import { state } from "./store.js";

/** @returns {Source[]} */
export const sources = () => [...state.server.sources.values()];

/** judged returns the sources that can be looked at. */
export const judged = () => sources().filter((s) => s.judged);

/** @returns {Source | undefined} */
export function source() {
  if (state.route.source !== "") return state.server.sources.get(state.route.source);
  return judged()[0];
}

/** version returns the version that the route names. @param {Source} s @returns {Version | undefined} */
export const version = (s) => (state.route.version === "" ? s.versions[0]
  : s.versions.find((v) => v.name === state.route.version));

/** endpoint returns the endpoint that the route names. In another version it is the one at the same path, so that a
 * switch of versions does not lose it.
 * @param {Version | undefined} v @returns {Endpoint | undefined} */
export function endpoint(v) {
  const key = state.route.endpoint;
  if (!v || key === "") return v?.endpoints[0];
  return v.endpoints.find((e) => e.key === key)
    ?? v.endpoints.find((e) => withoutVersion(e.key) === withoutVersion(key));
}

const withoutVersion = (/** @type {string} */ url) =>
  url.split("/").map((part) => (/^v\d+$/.test(part) ? "v" : part)).join("/");

/** @param {Source} s @param {Version} v @param {Endpoint} e @returns {Current} */
export const currentOf = (s, v, e) => ({
  source: s, version: v, endpoint: e, id: endpointID({ source: s.id, version: v.name, endpoint: e.key }),
});

/** endpointsOf returns all endpoints of sources. @param {Source[]} all */
export const endpointsOf = (all) =>
  all.flatMap((s) => s.versions.flatMap((v) => v.endpoints.map((e) => currentOf(s, v, e))));

/** current returns all three at once, if there are all three. @returns {Current | null} */
export function current() {
  const s = source();
  const v = s && version(s);
  const e = endpoint(v);
  return s && v && e ? currentOf(s, v, e) : null;
}

/** typedFor returns what was typed for an endpoint, for reading. @param {Current} at @returns {Typed} */
export const typedFor = (at) => state.typed[at.id] ?? { params: {}, modifiers: {} };

/** fits reports whether a control can have a value. @param {Param} param @param {string} text */
function fits(param, text) {
  if (text === "") return true;
  if (param.control === "select") return param.options.some((option) => option.value === text);
  return param.control !== "boolean" || text === "true" || text === "false";
}

/** defaultOf returns the value of a control that nobody has set. @param {Param} param */
export const defaultOf = (param) => (param.default !== null && fits(param, param.default) ? param.default : "");

/** valueOf returns what was typed into a control, if that still fits, or else its default.
 * @param {Param} param @param {Typed} typed */
export function valueOf(param, typed) {
  const mine = Object.hasOwn(typed.modifiers, param.key) ? typed.modifiers[param.key] : undefined;
  return mine !== undefined && fits(param, mine) ? mine : defaultOf(param);
}

/** @param {Endpoint} e */
export const paramsOf = (e) => e.modifiers.flatMap((modifier) => modifier.params);

/** sendOf returns the way in which requests of a source are sent. A file that nobody serves yet starts with sample
 * data.
 * @param {Source} s */
export function sendOf(s) {
  const { send } = state.route;
  if (send === "sample" || send === "published" || send === "origin") return send;
  if (s.kind === "address") return "published";
  return state.server.sendTo && s.kind === "file" ? "origin" : "sample";
}

/** sendTo returns the other server that requests can go to, or "". */
export const sendTo = () => state.sendTo ?? state.server.sendTo;

const sampleData = "sample data";

/** destination returns where the requests of an endpoint go. Context values are kept for it alone.
 * @param {Current} at */
export function destination(at) {
  const send = sendOf(at.source);
  if (send === "sample") return sampleData;
  return send === "origin" && !at.endpoint.foreign && sendTo() ? sendTo() : at.endpoint.origin;
}

export const contextSet = () => state.sets.find((set) => set.id === state.set) ?? state.sets[0];

/** @param {string} to @param {string} key @returns {ContextValue} */
export function contextValue(to, key) {
  const set = contextSet();
  const values = set.values[to];
  if (values && Object.hasOwn(values, key)) return values[key];
  return { text: to === sampleData && set.id === "1" ? "sample-value" : "", json: false }; // any value will do
}

/** elsewhere returns another destination that the set has a value of the key for.
 * @param {string} to @param {string} key */
export const elsewhere = (to, key) => Object.keys(contextSet().values)
  .find((other) => other !== to && contextValue(other, key).text !== "");

/** filled is what the server needs to know to compose or send. @param {Current} at */
export function filled(at) {
  const { source: s, version: v, endpoint: e } = at;
  const typed = typedFor(at);
  const to = destination(at);
  /** @type {Record<string, string>} */
  const params = {};
  /** @type {Record<string, string>} */
  const modifiers = {};
  /** @type {Record<string, ContextValue>} */
  const context = {};
  for (const name of e.placeholders) if (Object.hasOwn(typed.params, name)) own(params, name, typed.params[name]);
  for (const param of paramsOf(e)) own(modifiers, param.key, valueOf(param, typed));
  for (const item of e.context) {
    const text = contextValue(to, item.key);
    if (item.sent && text.text !== "") own(context, item.key, text);
  }
  return { source: s.id, version: v.name, endpoint: e.key, params, modifiers, context, send: sendOf(s), to: sendTo() };
}

/** signature is a text that changes when a request would. @param {Current} at */
export const signature = (at) => JSON.stringify([filled(at), at.endpoint.url, state.server.instance]);

/** shortName leaves out what all names of a kind share. @param {Source} s */
export function shortName(s) {
  if (s.kind !== "address") return s.id.split(/[/\\]/).pop() ?? s.id;
  if (!URL.canParse(s.id)) return s.id;
  const url = new URL(s.id);
  return url.host + url.pathname.replace(/\/endpoints-manifest$/, "");
}

/** serviceName is what a service is called. @param {Source} s */
export const serviceName = (s) => s.title || (s.kind === "example" ? "Built-in example" : shortName(s));

/** pathOf leaves out the host that the endpoints of a version share. @param {Version} v @param {Endpoint} e */
export function pathOf(v, e) {
  const shared = v.endpoints.find((other) => !other.foreign)?.origin;
  const path = e.url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  return e.origin !== shared || path === "" ? e.url.replace(/^https?:\/\//i, "") : path;
}

/** What each endpoint is found by. @type {WeakMap<Endpoint, string>} */
const words = new WeakMap();

/** wordsOf returns what an endpoint is found by, in lower case: on its first line, its name. @param {Endpoint} e */
export function wordsOf(e) {
  let all = words.get(e);
  if (all === undefined) {
    const modifiers = e.modifiers.flatMap((m) => [m.name, ...m.params.flatMap((p) => [p.key, p.label])]);
    all = [e.name, e.url, ...e.context.map((item) => item.key), ...modifiers].join("\n").toLowerCase();
    words.set(e, all);
  }
  return all;
}

/** keyOf returns the key of the endpoint that has a URL, in any version if none is named.
 * @param {Source} s @param {string} name @param {string} url */
export const keyOf = (s, name, url) =>
  s.versions.filter((v) => name === "" || v.name === name).flatMap((v) => v.endpoints)
  .find((e) => e.url === url)?.key;

/** lostKeys returns the keys that feeds of an endpoint lose. @param {{ under: Loser[] } | undefined} nesting */
export const lostKeys = (nesting) => [...new Set((nesting?.under ?? []).flatMap((other) => other.lost_keys))];

/** losses returns the endpoints, of one source or of all, whose feeds lose keys. @param {Source} [s] */
export const losses = (s) => [...state.server.overlap.values()]
  .filter((nesting) => (!s || nesting.source === s.id) && nesting.under.some((other) => other.lost_keys.length > 0));

/** marksOf returns a function that returns what is to be said about an endpoint of a version.
 * @param {Source} s @param {Version} v @returns {(e: Endpoint) => Marks} */
export function marksOf(s, v) {
  const findings = Map.groupBy(s.findings, (f) => f.key);
  const changed = new Set(s.changes.filter((c) => c.version === v.name).map((c) => c.endpoint));
  return (e) => {
    const found = findings.get(e.key) ?? [];
    return {
      lost: lostKeys(state.server.overlap.get(currentOf(s, v, e).id)), problems: found.length,
      errors: found.some((f) => f.severity === "error"), changed: changed.has(e.url),
    };
  };
}

/** patternOf matches the feeds of an endpoint. @param {string} url */
function patternOf(url) {
  const literals = url.split(/\{\{[^{}]*\}\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp("^" + literals.join("([^/?#]+)"), "i");
}

/** coverage returns how many characters of a feed an endpoint covers. @param {string} url @param {string} feed */
export const coverage = (url, feed) => patternOf(url).exec(feed)?.[0].length ?? 0;

/** bind reads the placeholders of an endpoint, and the values of its controls, out of the URL of a feed.
 * @param {Endpoint} e @param {string} feed @returns {Typed} */
export function bind(e, feed) {
  const names = [...e.url.matchAll(/\{\{([^{}]*)\}\}/g)].map((m) => m[1]);
  /** @type {Typed} */
  const typed = { params: {}, modifiers: {} };
  const found = patternOf(e.url).exec(feed);
  names.forEach((name, i) => {
    try {
      if (found) own(typed.params, name, decodeURIComponent(found[i + 1]));
    } catch {
      // It is not percent-encoded, so it stays open.
    }
  });
  const query = new URLSearchParams(feed.split("#")[0].split("?").slice(1).join("?"));
  for (const param of paramsOf(e)) if (query.has(param.key)) own(typed.modifiers, param.key, query.get(param.key));
  return typed;
}
