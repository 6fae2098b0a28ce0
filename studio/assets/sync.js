// What the page knows of the server is kept up to date here, across restarts too.

import { announce, count } from "./dom.js";
import { endpointID, parse, settleNow } from "./route.js";
import { current, source } from "./select.js";
import { call, deployment, follow, Refused, remoteTimeout } from "./server.js";
import { change, state } from "./store.js";

let wanted = { instance: "", rev: 0 };
/** @type {Promise<void> | null} */
let fetching = null;

/** connect begins to follow the server. The page came with its state, if that is for the deployment of the tab. */
export function connect() {
  const text = document.getElementById("state")?.textContent;
  if (text && deployment() === "") apply(JSON.parse(text), "");
  else refresh();
  let lost = 0;
  follow((message) => {
    clearTimeout(lost);
    lost = 0;
    wanted = message;
    const { instance, rev } = state.server;
    if (state.connection !== "live" || message.instance !== instance || message.rev > rev) refresh();
  }, () => {
    lost ||= window.setTimeout(() => change((state) => { state.connection = "lost"; }), 1500);
  });
}

/** refresh gets the state of the server, until there is nothing newer. */
export function refresh() {
  fetching ??= load().finally(() => { fetching = null; });
  return fetching;
}

async function load() {
  try {
    do {
      const wish = deployment();
      const { instance, rev, deployment: has } = state.server;
      apply(await call(has === wish && instance ? `/api/state?instance=${instance}&since=${rev}` : "/api/state"), wish);
    } while ((wanted.instance === state.server.instance && wanted.rev > state.server.rev)
      || deployment() !== state.server.deployment);
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    if (refused.failure.status === 422) { // a host that is none
      change((state) => {
        state.failures.deployment = refused.failure;
        state.route.host = state.server.deployment ? JSON.parse(state.server.deployment).host : "";
      });
      settleNow();
      window.setTimeout(refresh, 0);
      return;
    }
    const locked = refused.failure.status === 401; // it was started with another token
    change((state) => {
      state.connection = "lost";
      state.failures.locked = locked ? refused.failure : null;
    });
    window.setTimeout(refresh, 2000);
  }
}

/** apply takes over what the server has. @param {any} now @param {string} wish the deployment that it is for */
function apply(now, wish) {
  const { server } = state;
  if (server.build !== "" && server.build !== now.build) {
    location.reload(); // the page is older than its server
    return;
  }
  const first = server.instance === "";
  /** @type {Record<string, any[]>} */
  const lists = {};
  for (const [name, { head, items, tail }] of Object.entries(now.lists)) {
    const has = server.lists[name] ?? [];
    lists[name] = [...has.slice(0, head), ...items, ...has.slice(has.length - tail)];
  }
  for (const s of now.sources) {
    s.findings = lists["findings " + s.id];
    s.changes = lists["changes " + s.id];
    for (const v of s.versions) v.endpoints = lists[`endpoints ${v.name} ${s.id}`];
  }
  const restarted = !first && server.instance !== now.instance;
  const before = server.sources;
  const saved = now.sources.filter((/** @type {Source} */ s) => before.has(s.id) && before.get(s.id)?.read !== s.read);
  change((state) => {
    state.connection = "live";
    state.failures.locked = null;
    state.loaded = true;
    if (now.usage) state.usage = { ...now.usage, period: now.period };
    const { instance, build, rev, host } = now;
    state.server = {
      instance, build, rev, host, deployment: wish, sendTo: now.send_to, timeout: now.timeout, lists,
      sources: new Map(now.sources.map((/** @type {Source} */ s) => [s.id, s])),
      overlap: new Map(lists.overlap.map((n) => [endpointID({ ...n, endpoint: n.key }), n])),
    };
  });
  for (const s of saved) if (s.kind === "file") announce(`${s.id} was saved. ${summary(s.findings)}.`);
  keepRoute();
  if (first || restarted) restore(before);
}

/** summary says how many problems there are. @param {{ severity: string }[]} findings */
export function summary(findings) {
  const errors = findings.filter((f) => f.severity === "error").length;
  const warnings = findings.length - errors;
  return [errors && count(errors, "error"), warnings && count(warnings, "warning")].filter(Boolean).join(", ")
    || "No problems";
}

/** keepRoute puts what is shown into the address, where that does not say yet. */
function keepRoute() {
  change((state) => {
    const s = source();
    if (s && state.route.source === "") state.route.source = s.id;
    const at = current();
    if (at) Object.assign(state.route, { version: at.version.name, endpoint: at.endpoint.key });
  });
  settleNow();
}

/** restore gives a server that was started anew the addresses that the page had. One that fails is kept, and says so.
 * @param {Map<string, Source>} before */
async function restore(before) {
  const addresses = new Set([...state.registered,
    ...[...before.values()].filter((s) => s.kind === "address").map((s) => s.id)]);
  const missing = [...addresses].filter((address) => !state.server.sources.has(address));
  await Promise.all(missing.map((address) =>
    call("/api/register", { address, keep: true }, { timeout: remoteTimeout }).catch(() => {})));
  if (missing.length > 0) await refresh();
}

/** arrive shows what the address of the page says. @param {boolean} first */
export function arrive(first) {
  if (!location.hash.startsWith("#/")) {
    if (!first) return;
    change((state) => { state.route.pane = "endpoint"; }); // so that a feed is the first thing to see
    settleNow();
    return;
  }
  const { route, typed } = parse(location.hash);
  change((state) => {
    state.route = route;
    if (route.source && route.endpoint) state.typed[endpointID(route)] = typed;
    state.picked = null;
  });
  if (!state.loaded) return;
  if (deployment() === state.server.deployment) keepRoute();
  else refresh();
}
