// What the page shows is in its address, so that Back, a reload and a copied link work. Context values are not.

import { change, routeTexts, state } from "./store.js";

/** @typedef {{ route: Route, typed: Typed }} Address a route, with what is filled in for its endpoint */

/** @param {string} hash @returns {Address} */
export function parse(hash) {
  const [, view = "", query = ""] = /^#\/([a-z]*)\??(.*)$/s.exec(hash) ?? [];
  const words = new URLSearchParams(query);
  /** @type {any} */
  const route = { view: view || "preview", features: {} };
  for (const [name, otherwise] of Object.entries(routeTexts)) route[name] = words.get(name) ?? otherwise;
  /** @type {Typed} */
  const typed = { params: {}, modifiers: {} };
  for (const [name, text] of words) {
    if (name.startsWith("p.")) own(typed.params, name.slice(2), text);
    if (name.startsWith("m.")) own(typed.modifiers, name.slice(2), text);
    if (name.startsWith("f.")) own(route.features, name.slice(2), text.split(",").filter(Boolean));
  }
  return { route, typed };
}

/** own sets a field even if it is called __proto__.
 * @param {object} object @param {string} name @param {unknown} value */
export function own(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** @param {Address} address @returns {string} */
function format({ route, typed }) {
  const words = new URLSearchParams();
  for (const [name, otherwise] of Object.entries(routeTexts)) {
    const text = /** @type {any} */ (route)[name];
    if (text !== otherwise) words.set(name, text);
  }
  for (const [name, text] of Object.entries(typed.params)) words.set("p." + name, text);
  for (const [name, text] of Object.entries(typed.modifiers)) words.set("m." + name, text);
  for (const [name, features] of Object.entries(route.features)) words.set("f." + name, features.join(","));
  const query = words.toString();
  return `#/${route.view}${query ? "?" + query : ""}`;
}

/** present returns the address of what is shown now. @param {Partial<Route>} [changes] @returns {string} */
export function present(changes = {}) {
  const route = { ...state.route, ...changes };
  return format({ route, typed: state.typed[endpointID(route)] ?? { params: {}, modifiers: {} } });
}

/** endpointID names an endpoint whatever its host is.
 * @param {{ source: string, version: string, endpoint: string }} route */
export const endpointID = ({ source, version, endpoint }) => JSON.stringify([source, version, endpoint]);

/** go changes the route. A new place is a step that Back undoes, a detail is not.
 * @param {Partial<Route>} changes @param {{ replace?: boolean }} [options] */
export function go(changes, { replace = false } = {}) {
  const from = `${state.route.view}/${state.route.pane}`;
  if (!replace && location.hash !== "") settleNow(); // what was typed belongs to the place that is left
  change((state) => Object.assign(state.route, changes));
  const next = present();
  if (next === location.hash) return;
  if (replace || location.hash === "") {
    settle();
    return;
  }
  write(() => history.pushState({ from }, "", next));
}

/** back returns to the list: a step back if that was the way here, which a link or the search is not. */
export function back() {
  if (history.state?.from === "preview/list") history.back();
  else go({ view: "preview", pane: "list" });
}

// Some browsers throw if an address changes more than 100 times in 30 s, so typing changes it once in this time at
// most.
const pause = 1000;
let timer = 0;

/** settle writes the address of what is shown soon, without a step. */
export function settle() {
  timer ||= window.setTimeout(settleNow, pause);
}

/** settleNow writes it at once. */
export function settleNow() {
  clearTimeout(timer);
  timer = 0;
  const next = present();
  if (next === location.hash) return;
  write(() => history.replaceState(history.state, "", next));
}

/** @param {() => void} f */
function write(f) {
  try {
    f();
  } catch {
    // Too often for this browser: the next change is written again.
  }
}
