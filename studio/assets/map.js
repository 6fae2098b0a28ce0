// The map: all registered endpoints as nested prefixes, which swallows which, and where feeds land.

import { loadMatches, open } from "./actions.js";
import { address, badge, button, byId, code, count, h, lazy, list, plain, value } from "./dom.js";
import { fold, keys, viewHead, whenSeen, whyNot } from "./parts.js";
import { endpointID, go } from "./route.js";
import { endpointsOf, losses, lostKeys, pathOf, serviceName, sources, wordsOf } from "./select.js";
import { change, state } from "./store.js";

/** @typedef {Current & { under: Loser[], parent: Spot | undefined, children: Spot[], feeds: Match[] }} Spot */

// So many endpoints are added at a time, when the end of the map is scrolled to.
const page = 200;

/** How many endpoints are shown. */
let room = { of: "", n: page };

// From here on a filter helps.
const fewEndpoints = 12;

export function mapView() {
  loadMatches();
  const all = sources();
  const matches = state.route.feeds.length > 0 ? state.matches?.matches ?? [] : [];
  const words = state.route.filter.trim().toLowerCase();
  const of = words + "\n" + state.server.rev;
  if (room.of !== of) room = { of, n: page };
  const total = endpointsOf(all).length;
  const lost = losses();
  return h("div", { class: "view map-view", key: "map" },
    viewHead(
      ["Map ", h("span", { class: "quiet" }, count(total, "endpoint"), lost.length > 0 && `, ${lost.length} with lost keys`)],
      ["Apps send the context keys of one endpoint with a feed: the one with the longest matching URL. ",
        "An endpoint inside another shadows it."]),
    h("div", { class: "split" },
      h("div", { class: "map", key: "map" },
        lost.length > 0 ? h("section", { key: "lost", "aria-labelledby": "lost-title" },
          h("h3", { id: "lost-title" }, "Lost keys"), h("ul", { class: "spots", id: "losses" }, lost.slice(0, maxLosses).map(loss)),
          lost.length > maxLosses && h("p", { class: "blank-line" }, `And ${lost.length - maxLosses} more.`))
          : h("p", { class: "good", key: "fine" }, "✓ No endpoint takes keys from another."),
        fold("all-endpoints", [h("strong", {}, "All endpoints"), " ", h("span", { class: "quiet" }, "as nested prefixes")],
          state.open["all-endpoints"] && [
            (total > fewEndpoints || words !== "") && h("input", {
              id: "map-filter", class: "filter", type: "search", placeholder: "Filter by name, URL or key", "aria-label": "Filter the map",
              value: state.route.filter, oninput: (/** @type {any} */ event) => go({ filter: event.target.value }, { replace: true }),
            }),
            lazy("div", { class: "map", key: "origins" }, [state.server.overlap, of, room.n, state.matches, matches.length],
              () => origins(all, matches, words)),
          ])),
      h("div", { class: "map-side", key: "side" }, feedForm(), h("div", { id: "landings", role: "status" }, matches.map(landing)))));
}

// More than anyone reads.
const maxLosses = 200;

/** loss says which keys the feeds of an endpoint lose, and to whom. @param {Nesting} nesting */
function loss(nesting) {
  const s = state.server.sources.get(nesting.source);
  const e = s?.versions.find((v) => v.name === nesting.version)?.endpoints.find((other) => other.key === nesting.key);
  if (!s || !e) return null;
  const from = nesting.under.filter((other) => other.lost_keys.length > 0);
  return h("li", { class: "spot loses", key: nesting.source + nesting.version + nesting.key },
    nameOf(s, nesting.version, e),
    h("p", {}, "shadows ", list(from.map((other) => value(other.name, "strong"))), ": its feeds lose ", keys(lostKeys(nesting)), "."),
    from.map((other) => h("p", { class: "quiet" }, value(other.name), " ", address(other.url))));
}

/** @param {Source} s @param {string} v @param {Endpoint} e */
const nameOf = (s, v, e) => h("div", { class: "row" },
  button({ class: "link strong", onclick: () => open({ source: s.id, version: v, key: e.key }) }, value(e.name)),
  v && badge(v), h("span", { class: "where" }, address(pathOf(e))),
  sources().length > 1 && h("span", { class: "quiet" }, value(serviceName(s))));

/** origins returns the endpoints of each scheme and host. @param {Source[]} all @param {Match[]} matches @param {string} words */
function origins(all, matches, words) {
  const spots = new Map(endpointsOf(all).map((at) => [at.id, /** @type {Spot} */ ({
    ...at, under: state.server.overlap.get(at.id)?.under ?? [], parent: undefined, children: [], feeds: [],
  })]));
  const spotOf = (/** @type {Place} */ place) => spots.get(endpointID({ ...place, endpoint: place.key }));
  for (const match of matches) if (match.found) spotOf(match.winner)?.feeds.push(match);
  for (const spot of spots.values()) {
    const above = spot.under.find((other) => other.reason !== "order");
    spot.parent = above && spotOf(above);
    spot.parent?.children.push(spot);
  }
  // An endpoint is shown with those around it, whether the filter wants them or not.
  const shown = new Set();
  for (const wanted of spots.values()) {
    if (!wordsOf(wanted.endpoint).all.includes(words)) continue;
    for (let spot = /** @type {Spot | undefined} */ (wanted); spot && !shown.has(spot); spot = spot.parent) shown.add(spot);
  }
  if (shown.size === 0) return [h("p", { class: "blank" }, spots.size === 0 ? "There are no endpoints to show." : "No endpoint matches.")];
  let drawn = 0;
  const draw = (/** @type {Spot[]} */ some) => some.flatMap((spot) => (shown.has(spot) && drawn++ < room.n ? [spotItem(spot, draw)] : []));
  const roots = Map.groupBy([...spots.values()].filter((spot) => !spot.parent), (spot) => spot.endpoint.origin);
  return [
    [...roots].map(([origin, some]) => [origin, draw(some)]).map(([origin, items]) => items.length > 0
      && h("section", { class: "origin", key: origin, "aria-label": plain(origin) },
        h("h3", {}, value(origin || "no host")), h("ul", { class: "spots" }, items))),
    shown.size > room.n && h("p", { class: "more-rows", key: "more" }, button({
      class: "link", created: whenSeen, onclick: () => change((state) => { room.n += page; }),
    }, `${shown.size - room.n} more`)),
  ];
}

/** @param {Spot} spot @param {(some: Spot[]) => Child[]} draw @returns {Child} */
function spotItem(spot, draw) {
  const { source: s, version: v, endpoint: e, under } = spot;
  const lost = lostKeys(spot);
  return h("li", { class: "spot" + (lost.length ? " loses" : ""), key: spot.id },
    nameOf(s, v.name, e),
    under[0]?.inside && h("p", { class: "problem" }, "The URL of the endpoint around it ends in the middle of a path segment of this one."),
    (e.context.length > 0 || lost.length > 0) && h("p", { class: "gets" },
      e.context.map((item) => h("span", { class: "chip" }, code(item.key))),
      lost.map((key) => h("span", { class: "chip lost" }, h("span", { class: "unseen" }, "lost key: "), code(key)))),
    spot.feeds.length > 0 && h("ul", { class: "landed" }, spot.feeds.map((match) => h("li", {}, "● ", address(match.feed)))),
    spot.children.length > 0 && h("ul", { class: "spots" }, draw(spot.children)));
}

const feedForm = () => h("form", {
  class: "stack", id: "feeds-form",
  onsubmit: () => {
    const text = /** @type {HTMLTextAreaElement} */ (byId("feeds")).value;
    go({ feeds: text.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, 100) }, { replace: true });
  },
},
h("label", { for: "feeds" }, "Which endpoint answers for these feeds?"),
h("textarea", {
  id: "feeds", rows: 4, placeholder: "Paste feed URLs, one per line", spellcheck: "false", key: state.route.feeds.join("\n"),
  created: (/** @type {HTMLTextAreaElement} */ node) => { node.value = state.route.feeds.join("\n"); },
  onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) /** @type {any} */ (event.target).form.requestSubmit();
  },
}),
h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Show"),
  state.route.feeds.length > 0 && button({ onclick: () => go({ feeds: [] }, { replace: true }) }, "Clear")));

/** landing says which endpoint answers for a feed, and why. @param {Match} match */
export const landing = (match) => h("div", { class: "landing", key: match.feed },
  h("p", {}, address(match.feed)),
  match.problem ? h("p", { class: "failure" }, plain(match.problem))
    : !match.found ? h("p", { class: "failure" },
      "No endpoint answers, so apps send no context keys. The feed must begin with the URL of an endpoint: same scheme, host and path.")
      : [
        h("p", {},
          button({ class: "link strong", onclick: () => open(match.winner, match.feed) }, value(match.winner.name)), " answers",
          match.winner.version && [" (", value(match.winner.version), ")"], ". Apps send ",
          match.context_obj.length ? keys(match.context_obj.map((item) => item.key)) : "no context keys", "."),
        match.inside_segment && h("p", { class: "failure" },
          "The endpoint’s URL ends in the middle of a path segment of the feed, so the match may be a coincidence."),
        match.losers.map((other) => h("p", { class: other.lost_keys.length ? "failure" : "quiet" }, whyNot(other))),
      ]);
