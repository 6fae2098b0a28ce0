// What requests use, out of a usage file: shares beside the controls and the changes.

import { h } from "./dom.js";
import { state } from "./store.js";

/** usageOf returns what requests to an endpoint use.
 * @param {Source} s @param {string} version @param {string} key @returns {EndpointUsage | undefined} */
export const usageOf = (s, version, key) => state.usage?.endpoints.find((e) =>
  e.url === key && (e.version === version || version === "") && (e.service === s.base_path || s.kind === "address"));

/** @param {number} n */
export const number = (n) => n.toLocaleString("en-US");

/** percent is a share in words. @param {number} n @param {number} of */
function percent(n, of) {
  const share = of > 0 ? 100 * n / of : 0;
  return share > 0 && share < 1 ? `${share.toFixed(1)} %` : `${Math.round(share)} %`;
}

/** bar draws a share. @param {number} n @param {number} of */
const bar = (n, of) => h("progress", { class: "bar", max: Math.max(1, of), value: n, "aria-hidden": "true" });

/** share says how many of the requests do something, with a bar.
 * @param {number} n @param {number} of @param {string} does */
const share = (n, of, does) => h("div", { class: "share" }, bar(n, of),
  h("p", {}, n === 0 ? `None of ${number(of)} requests ${does}.`
    : [h("strong", {}, number(n)), ` of ${number(of)} requests ${does} `,
    h("span", { class: "quiet" }, `(${percent(n, of)})`)]));

/** concerned says how many requests changes concern, if that is known of each. Of a whole endpoint, it is a share of
 * all requests.
 * @param {Change[]} changes */
export function concerned(changes) {
  const sum = (/** @type {"requests" | "of"} */ name) => changes.reduce((n, c) => n + (c[name] ?? NaN), 0);
  if (changes.length === 0 || Number.isNaN(sum("requests"))) return null;
  const { doing } = changes[0];
  return share(sum("requests"), doing ? sum("of") : state.usage?.requests ?? 0, doing || "went to it");
}

/** small is a share beside a control.
 * @param {number | undefined} n @param {number | undefined} of @param {string} does */
export const small = (n, of, does) => (n === undefined || !of ? null
  : h("span", { class: "share small", title: `${number(n)} of ${number(of)} requests ${does}` }, bar(n, of),
    h("span", { class: "quiet" }, percent(n, of))));

/** usageSpan says what was counted. */
export function usageSpan() {
  const { usage } = state;
  if (!usage) return "";
  return `usage ${usage.period && usage.period + ", "}${number(usage.requests)} requests`;
}
