// The map: all registered endpoints as a drawn tree of prefixes. A feed lights up those that match, and its keys go to
// the winner.

import { loadMatch, openEndpoint } from "./actions.js";
import { address, badge, button, code, count, h, lazy, list, plain, value } from "./dom.js";
import { chip, fold, keys, lineLink, viewHead, whyNot } from "./parts.js";
import { endpointID, go } from "./route.js";
import { coverage, endpointsOf, losses, lostKeys, pathOf, serviceName, sources } from "./select.js";
import { change, state } from "./store.js";
import { wires } from "./wires.js";

/** @typedef {Current & { under: Loser[], inside: boolean, parent: Spot | undefined, children: Spot[],
 *    losing: boolean }} Spot */
// What a feed lights up: the ids of endpoints, and the keys that it loses.
/** @typedef {{ wins: string, matches: Set<string>, lost: Set<string> }} Lit */

// So many endpoints are added at a time.
const page = 100;

/** How many endpoints are shown. */
let room = page;

// From here on, those that overlap with nothing are folded.
const fewEndpoints = 12;

export function mapView() {
  loadMatch();
  const all = sources();
  const match = state.route.feed.trim() === "" || state.match?.failure ? null : state.match;
  const lost = losses();
  return h("div", { class: "view map-view", key: "map" },
    viewHead(
      ["Map ", h("span", { class: "quiet" }, count(endpointsOf(all).length, "endpoint"),
        lost.length > 0 && `, ${lost.length} with lost keys`)],
      ["Apps send the context keys of one endpoint with a feed: the one with the longest matching URL. ",
        "An endpoint shadows those that it branches off from."]),
    h("div", { class: "feed-form", key: "form" },
      h("label", { for: "feed" }, "Type or paste a feed URL"),
      h("input", {
        id: "feed", type: "search", class: "url", spellcheck: "false", autocomplete: "off", value: state.route.feed,
        placeholder: "Feed URL: who answers for it, and with which keys?",
        oninput: (event) => go({ feed: event.target.value }, { replace: true }),
      }),
      match?.found && h("p", { class: "url covered", id: "covered" }, covered(match))),
    h("div", { class: "drawing" + (match ? " asked" : ""), key: "drawing" },
      lazy("div", { class: "trees", key: "trees" },
        [state.server.overlap, room, match, state.unfolded["all-endpoints"]], () => trees(all, litBy(match))),
      h("div", { id: "landing", role: "status", key: "landing" }, match && landing(match)),
      wires()));
}

/** litBy returns what a feed lights up. @param {Match | null} match @returns {Lit} */
function litBy(match) {
  const id = (/** @type {Reference} */ one) => endpointID({ ...one, endpoint: one.key });
  if (!match?.found) return { wins: "", matches: new Set(), lost: new Set() };
  return {
    wins: id(match.winner), matches: new Set([match.winner, ...match.losers].map(id)),
    lost: new Set(match.losers.flatMap((other) => other.lost_keys)),
  };
}

/** trees draws the endpoints that overlap, those that lose keys first. Where there are many, the others are folded.
 * @param {Source[]} all @param {Lit} lit */
function trees(all, lit) {
  const spots = new Map(endpointsOf(all).map((at) => [at.id, /** @type {Spot} */ ({
    ...at, under: state.server.overlap.get(at.id)?.under ?? [], inside: false, parent: undefined, children: [],
    losing: false,
  })]));
  for (const spot of spots.values()) {
    const above = spot.under.find((other) => other.reason !== "order");
    spot.inside = Boolean(above?.inside);
    spot.parent = above && spots.get(endpointID({ ...above, endpoint: above.key }));
    spot.parent?.children.push(spot);
    for (let s = /** @type {Spot | undefined} */ (spot); s && !s.losing
      && lostKeys(spot).length > 0; s = s.parent) s.losing = true;
  }
  if (spots.size === 0) return [h("p", { class: "blank" }, "There are no endpoints to show.")];
  let drawn = 0;
  const draw = (/** @type {Spot[]} */ some) =>
    some.flatMap((spot) => (drawn++ < room ? [node(spot, draw, lit)] : []));
  const roots = [...spots.values()].filter((spot) => !spot.parent);
  const involved = (/** @type {Spot} */ spot) => spot.children.length > 0 || lit.matches.has(spot.id);
  const few = roots.length <= fewEndpoints;
  const weight = (/** @type {Spot} */ spot) => Number(spot.losing) * 2 + Number(involved(spot));
  const nested = roots.filter((spot) => few || involved(spot)).sort((a, b) => weight(b) - weight(a));
  const single = few ? [] : roots.filter((spot) => !involved(spot));
  return [
    !nested.some((spot) => spot.losing)
      && h("p", { class: "good", key: "fine" }, "✓ No endpoint takes keys from another."),
    h("div", { id: "losses", key: "nested" }, byOrigin(nested, draw)),
    single.length > 0 && fold("all-endpoints", [h("strong", {}, nested.length ? "All others" : "All endpoints"), " ",
      h("span", { class: "quiet" }, count(single.length, "endpoint"), " that overlap with nothing")],
    state.unfolded["all-endpoints"] && byOrigin(single, draw)),
    drawn > room && h("p", { class: "more-rows", key: "more" },
      button({ class: "link", onclick: () => change(() => { room += page; }) }, `${drawn - room} more`)),
  ];
}

/** byOrigin draws one tree for each scheme and host. @param {Spot[]} roots @param {(some: Spot[]) => Child[]} draw */
function byOrigin(roots, draw) {
  return [...Map.groupBy(roots, (spot) => spot.endpoint.origin)].map(([origin, some]) => {
    const items = draw(some);
    const open = some.some((spot) => spot.endpoint.key.includes("{{host}}"));
    return items.length > 0 && h("section", { class: "tree-of", key: origin, "aria-label": plain(origin) },
      h("div", { class: "node root", "data-node": origin },
        h("strong", {}, value(origin.replace(/^https:\/\//, "") || "no host")),
        open && h("span", { class: "quiet" }, code("{{host}}"))),
      h("ul", { class: "kids" }, items));
  });
}

/** node is an endpoint with those that shadow it.
 * @param {Spot} spot @param {(some: Spot[]) => Child[]} draw @param {Lit} lit @returns {Child} */
function node(spot, draw, lit) {
  const { source: s, version: v, endpoint: e, under } = spot;
  const lost = lostKeys(spot);
  const wins = spot.id === lit.wins;
  const matches = lit.matches.has(spot.id);
  const kind = (lost.length ? " loses" : "") + (wins ? " wins" : matches ? " matches" : "");
  const from = under.filter((other) => other.lost_keys.length > 0);
  return h("li", { key: spot.id },
    h("div", {
      class: "node spot" + kind, "data-node": spot.id, "data-under": spot.parent?.id ?? e.origin,
      "data-lit": matches ? "" : undefined,
      title: plain(`${serviceName(s)}: ${e.url}`),
    },
      h("p", { class: "row" },
        button({ class: "link strong", onclick: () => openEndpoint({ source: s.id, version: v.name, key: e.key }) },
          value(e.name)),
        v.name && badge(v.name), wins && badge("wins", "good")),
      h("p", { class: "where" }, address(shortPath(spot))),
      spot.inside && h("p", { class: "problem" }, "in the middle of a path segment"),
      (e.context.length > 0 || lost.length > 0) && h("p", { class: "gets" },
        e.context.map((item) => chip(item.key, kindOf(item, wins, matches && lit.lost.has(item.key)))),
        lost.filter(() => !matches).map((key) => chip(key, "lost"))),
      from.length > 0 && !matches && h("p", { class: "problem" },
        "shadows ", list(from.map((other) => value(other.name, "strong"))), ": its feeds lose ", keys(lost), ".")),
    spot.children.length > 0 && h("ul", { class: "kids" }, draw(spot.children)));
}

/** shortPath leaves out what the endpoint around it has. @param {Spot} spot */
function shortPath({ version: v, endpoint: e, parent }) {
  const around = parent?.endpoint.url ?? "";
  return around !== "" && e.url.startsWith(around) ? "…" + e.url.slice(around.length) : pathOf(v, e);
}

/** kindOf is how the chip of a key looks. @param {ContextField} item @param {boolean} wins @param {boolean} lost */
const kindOf = (item, wins, lost) => (lost ? "lost" : `${wins ? "travels" : ""}${item.required ? " required" : ""}`);

/** covered marks in a feed what each endpoint covers. @param {Match} match @returns {Child[]} */
function covered({ feed, winner, losers }) {
  const ends = [...losers.map((other) => ({ end: coverage(other.url, feed), kind: "matches", name: other.name })),
    { end: coverage(winner.url, feed), kind: "wins", name: winner.name }].filter(({ end }) => end > 0).sort((a, b) =>
      a.end - b.end);
  let from = 0;
  const parts = ends.filter(({ end }, i) => end > (ends[i - 1]?.end ?? 0)).map(({ end, kind, name }) => {
    const text = feed.slice(from, end);
    from = end;
    return h("span", { class: kind, title: plain(`${name} covers the URL up to here`) }, plain(text));
  });
  return [parts, plain(feed.slice(from))];
}

/** landing says which endpoint answers for a feed, and what the app sends. @param {Match} match */
const landing = (match) =>
  h("div", { class: "landing", "data-landing": match.found ? "" : undefined },
  h("p", {}, address(match.feed)),
  match.problem ? h("p", { class: "failure" }, plain(match.problem))
    : !match.found ? h("p", { class: "failure" },
      "No endpoint answers, so apps send no context keys. ",
      "The feed must begin with the URL of an endpoint: same scheme, host and path.")
      : [
        h("p", {},
          button({ class: "link strong", onclick: () => openEndpoint(match.winner, match.feed) },
            value(match.winner.name)),
          " answers",
          match.winner.version && [" (", value(match.winner.version), ")"], ". Apps send ",
          match.context_obj.length ? keys(match.context_obj.map((item) => item.key)) : "no context keys", "."),
        match.context_obj.length > 0 && h("p", { class: "gets" },
          match.context_obj.map((item) => chip(item.key, "arrived"))),
        match.inside_segment && h("p", { class: "failure" },
          "The endpoint’s URL ends in the middle of a path segment of the feed, so the match may be a coincidence."),
        match.losers.map((other) => h("p", { class: other.lost_keys.length ? "failure" : "quiet" }, whyNot(other))),
        lostLine(match),
      ]);

/** lostLine says what to do about lost keys, and where. @param {Match} match */
function lostLine({ winner, losers }) {
  if (!losers.some((other) => other.lost_keys.length > 0)) return null;
  const s = state.server.sources.get(winner.source);
  const found = s?.findings.find((f) => f.key === winner.key && f.rule === "overlap-drops-context");
  return h("p", { class: "quiet" }, "Declare the keys on ", value(winner.name), ", too, if its feeds need them. ",
    s && found && lineLink(s, found, `${s.id}:${found.line}`));
}
