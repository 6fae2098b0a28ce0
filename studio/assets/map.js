// The map: all registered endpoints as nested prefixes, which swallows which, and where feeds land.

import { loadMatches, open } from "./actions.js";
import { badge, byId, count, h, lazy, list, plain, value } from "./dom.js";
import { keys, whyNot } from "./parts.js";
import { endpointID, go } from "./route.js";
import { nestingOf, pathOf, shortName, sources } from "./select.js";
import { state } from "./store.js";

/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").Version} Version */
/** @typedef {import("./types.js").Endpoint} Endpoint */
/** @typedef {import("./types.js").Match} Match */
/** @typedef {import("./types.js").Nesting} Nesting */
/** @typedef {{ source: Source, version: Version, endpoint: Endpoint, nesting: Nesting | undefined, children: Spot[], feeds: Match[] }} Spot */

// More than this is not looked at but searched.
const maxSpots = 400;

export function mapView() {
  loadMatches();
  const all = sources();
  const matches = state.route.feeds.length > 0 ? state.matches?.matches ?? [] : [];
  return h("div", { class: "view map-view" },
    h("div", { class: "view-head" },
      h("h2", { id: "view-title", tabindex: "-1" }, "Map"),
      h("p", { class: "quiet" }, "An endpoint inside another one takes its feeds over, and only its own context keys are sent. Everything registered in this page counts.")),
    h("div", { class: "split" },
      lazy("div", { class: "map", key: "map" }, [state.server.overlap, state.server.rev, state.matches, state.route.filter], () => origins(all, matches)),
      h("div", { class: "map-side" }, feedForm(), h("div", { id: "landings", role: "status" }, matches.map(landing)))));
}

/** origins returns the endpoints of each scheme and host. @param {Source[]} all @param {Match[]} matches */
function origins(all, matches) {
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  for (const s of all) {
    for (const v of s.versions) {
      for (const e of v.endpoints) {
        spots.set(endpointID({ source: s.id, version: v.name, endpoint: e.key }), { source: s, version: v, endpoint: e, nesting: nestingOf(s, v, e), children: [], feeds: [] });
      }
    }
  }
  for (const match of matches) {
    if (match.found) spots.get(endpointID({ source: match.winner.source, version: match.winner.version, endpoint: match.winner.key }))?.feeds.push(match);
  }
  /** @type {Map<string, Spot[]>} */
  const roots = new Map();
  for (const spot of spots.values()) {
    const above = spot.nesting?.under.find((other) => other.reason !== "order");
    const parent = above && spots.get(endpointID({ source: above.source, version: above.version, endpoint: above.key }));
    if (parent && parent !== spot) parent.children.push(spot);
    else roots.set(spot.endpoint.origin, [...(roots.get(spot.endpoint.origin) ?? []), spot]);
  }
  if (spots.size === 0) return [h("p", { class: "blank" }, "There are no endpoints to show.")];
  let left = maxSpots;
  const sections = [...roots].map(([origin, children]) => h("section", { class: "origin", key: origin, "aria-label": plain(origin) },
    h("h3", {}, value(origin || "without a host")),
    h("ul", { class: "spots" }, children.flatMap((spot) => (left-- > 0 ? [draw(spot, new Set(), () => left-- > 0)] : [])))));
  return [...sections, spots.size > maxSpots && h("p", { class: "blank-line" }, `Not all of ${count(spots.size, "endpoint")} are shown.`)];
}

/** @param {Spot} spot @param {Set<Spot>} seen @param {() => boolean} room @returns {import("./dom.js").Child} */
function draw(spot, seen, room) {
  if (seen.has(spot)) return null;
  seen.add(spot);
  const { source: s, version: v, endpoint: e, nesting } = spot;
  const above = nesting?.under[0];
  const lost = [...new Set((nesting?.under ?? []).flatMap((other) => other.lost_keys))];
  return h("li", { class: "spot" + (lost.length ? " loses" : ""), key: s.id + v.name + e.key },
    h("div", { class: "row" },
      h("button", { type: "button", class: "link strong", onclick: () => open({ source: s.id, version: v.name, key: e.key, name: e.name, url: e.url }) }, value(e.name)),
      badge(e.method.toUpperCase(), e.method === "post" ? "post" : "get"), v.name && badge(v.name),
      sources().length > 1 && h("span", { class: "quiet" }, value(shortName(s))),
      above?.inside && badge("inside a segment", "notable", "The endpoint around it ends in the middle of a path segment"),
      above?.reason === "literals" && badge("more literal", "", "It covers the same part of a URL as the endpoint around it, and spells more of it out"),
      nesting?.differ && badge("declared twice, differently", "bad")),
    h("p", { class: "where" }, value(pathOf(e))),
    h("p", { class: "gets" }, e.context.length ? ["sends ", keys(e.context.map((item) => item.key))] : "sends no context keys"),
    lost.length > 0 && h("p", { class: "failure" }, "Feeds here lose ", keys(lost), ", which ",
      list((nesting?.under ?? []).filter((other) => other.lost_keys.length).map((other) => value(other.name, "strong"))), " would send."),
    spot.feeds.length > 0 && h("ul", { class: "landed" }, spot.feeds.map((match) => h("li", {}, "● ", value(match.feed, "url")))),
    spot.children.length > 0 && h("ul", { class: "spots" }, spot.children.flatMap((child) => (room() ? [draw(child, seen, room)] : []))));
}

const feedForm = () => h("form", {
  class: "stack", id: "feeds-form",
  onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = /** @type {HTMLTextAreaElement} */ (byId("feeds")).value;
    go({ feeds: text.split(/\s+/).filter(Boolean).slice(0, 100) }, { replace: true });
  },
},
h("label", { for: "feeds" }, "Where do these feeds land?"),
h("textarea", {
  id: "feeds", rows: 4, placeholder: "Feed URLs, one per line", spellcheck: "false", key: state.route.feeds.join("\n"),
  created: (/** @type {HTMLTextAreaElement} */ node) => { node.value = state.route.feeds.join("\n"); },
  onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) /** @type {any} */ (event.target).form.requestSubmit();
  },
}),
h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Show"),
  state.route.feeds.length > 0 && h("button", { type: "button", onclick: () => go({ feeds: [] }, { replace: true }) }, "Clear")));

/** landing says which endpoint answers for a feed, and why. @param {Match} match */
export const landing = (match) => h("div", { class: "landing", key: match.feed },
  h("p", { class: "url" }, value(match.feed)),
  match.problem ? h("p", { class: "failure" }, plain(match.problem))
    : !match.found ? h("p", { class: "failure" }, "No endpoint answers: scheme, host and path must begin like those of an endpoint. The feed gets no context keys.")
      : [
        h("p", {}, h("button", { type: "button", class: "link strong", onclick: () => open(match.winner, match.feed) }, value(match.winner.name)), " answers",
          match.winner.version && [" (", value(match.winner.version), ")"], ". It gets ",
          match.context_obj.length ? keys(match.context_obj.map((item) => item.key)) : "no context keys", "."),
        match.inside_segment && h("p", { class: "failure" }, "The endpoint ends in the middle of a path segment of the feed, so it may match by chance."),
        match.losers.map((other) => h("p", { class: other.lost_keys.length ? "failure" : "quiet" }, whyNot(other, match.winner.name))),
        match.twins.length > 0 && h("p", { class: "quiet" }, "The same URL is also registered by ", list(match.twins.map((twin) => value(twin.source))), "."),
      ]);
