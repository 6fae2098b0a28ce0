// What the page shows is in its address, so that Back, a reload and a copied link work. Context values are not.

import { change, state } from "./store.js";

/** @typedef {import("./types.js").Route} Route */
/** @typedef {import("./types.js").Typed} Typed */

/** The fields of a route that are texts, and what they are where the address does not say. */
const texts = /** @type {const} */ ({
  source: "", version: "", endpoint: "", pane: "list", tab: "preview", filter: "", show: "all", send: "", snippet: "URL", base: "registered", of: "",
});

export const views = ["endpoints", "map", "findings", "changes", "check"];

/** A route, with what is filled in for its endpoint and what it asks of the deployment.
 * @typedef {{ route: Route, typed: Typed, host: string, features: string[] | null }} Address */

/** @param {string} hash @returns {Address} */
export function parse(hash) {
  const [, view = "", query = ""] = /^#\/([a-z]*)\??(.*)$/s.exec(hash) ?? [];
  const words = new URLSearchParams(query);
  /** @type {any} */
  const route = { view: views.includes(view) ? view : "endpoints", feeds: words.getAll("feed") };
  for (const [name, otherwise] of Object.entries(texts)) route[name] = words.get(name) ?? otherwise;
  /** @type {Typed} */
  const typed = { params: {}, modifiers: {} };
  for (const [name, text] of words) {
    if (name.startsWith("p.")) own(typed.params, name.slice(2), text);
    if (name.startsWith("m.")) own(typed.modifiers, name.slice(2), text);
  }
  const features = words.get("features");
  return { route, typed, host: words.get("host") ?? "", features: features === null ? null : features.split(",").filter(Boolean) };
}

/** own sets a field even if it is called __proto__. @param {object} object @param {string} name @param {unknown} value */
export function own(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** @param {Address} address @returns {string} */
export function format({ route, typed, host, features }) {
  const words = new URLSearchParams();
  for (const [name, otherwise] of Object.entries(texts)) {
    const text = /** @type {any} */ (route)[name];
    if (text !== otherwise) words.set(name, text);
  }
  for (const [name, text] of Object.entries(typed.params)) words.set("p." + name, text);
  for (const [name, text] of Object.entries(typed.modifiers)) words.set("m." + name, text);
  for (const feed of route.feeds) words.append("feed", feed);
  if (host) words.set("host", host);
  if (features) words.set("features", features.join(","));
  const query = words.toString();
  return `#/${route.view}${query ? "?" + query : ""}`;
}

/** present returns the address of what is shown now. @param {Partial<Route>} [changes] @returns {string} */
export function present(changes = {}) {
  const route = { ...state.route, ...changes };
  const source = state.server.sources.get(route.source);

  return format({
    route,
    typed: state.typed[endpointID(route)] ?? { params: {}, modifiers: {} },
    host: source && source.kind !== "address" && source.host_open ? state.server.host : "",
    features: source && source.features.length ? source.features.filter((f) => f.enabled).map((f) => f.name) : null,
  });
}

/** endpointID names an endpoint whatever its host is. @param {{ source: string, version: string, endpoint: string }} route */
export const endpointID = ({ source, version, endpoint }) => JSON.stringify([source, version, endpoint]);

/**
 * go changes the route. A new place is a step that Back undoes, a detail is not.
 * @param {Partial<Route>} changes
 * @param {{ replace?: boolean }} [options]
 */
export function go(changes, { replace = false } = {}) {
  const before = location.hash;
  const from = paneOf();
  change(() => Object.assign(state.route, changes));
  const after = present();
  if (after === before) return;
  if (replace || before === "") history.replaceState(history.state, "", after);
  else history.pushState({ from }, "", after);
}

const paneOf = () => `${state.route.view}/${state.route.pane}`;

/** back returns to a pane of the endpoints: a step back if that was the way here, which a link or the palette is not. @param {string} pane */
export function back(pane) {
  if (history.state?.from === `endpoints/${pane}`) history.back();
  else go({ view: "endpoints", pane });
}

/** settle writes the address of what is shown, without a step. */
export function settle() {
  const after = present();
  if (after !== location.hash) history.replaceState(history.state, "", after);
}
