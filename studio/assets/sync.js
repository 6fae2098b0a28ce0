// What the page knows of the server is kept up to date here, across restarts too.

import { announce } from "./dom.js";
import { endpointID, parse, settle } from "./route.js";
import { current, source } from "./select.js";
import { call, follow, Refused, remoteTimeout } from "./server.js";
import { change, state } from "./store.js";

let wanted = { instance: "", rev: 0 };
let fetching = false;

/** connect begins to follow the server. */
export function connect() {
  let lost = 0;
  follow((message) => {
    clearTimeout(lost);
    lost = 0;
    wanted = message;
    refresh();
  }, () => {
    lost ||= window.setTimeout(() => change(() => { state.connection = "lost"; }), 1500);
  });
  refresh();
}

/** refresh takes over what has changed on the server, until there is nothing newer. */
export async function refresh() {
  if (fetching) return;
  fetching = true;
  try {
    do {
      const { instance, rev } = state.server;
      take(await call(`/api/state?instance=${encodeURIComponent(instance)}&since=${rev}`));
    } while (wanted.instance === state.server.instance && wanted.rev > state.server.rev);
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    change(() => { state.connection = "lost"; });
    setTimeout(refresh, 2000);
  } finally {
    fetching = false;
  }
}

/** take takes over a delta. @param {any} delta */
function take(delta) {
  const { server } = state;
  if (server.build !== "" && server.build !== delta.build) {
    location.reload(); // the page is older than its server
    return;
  }
  const first = server.instance === "";
  const restarted = !first && server.instance !== delta.instance;
  const before = { host: server.host, sendTo: server.sendTo, sources: new Map(server.sources) };
  const saved = delta.sources.filter((/** @type {any} */ s) => before.sources.has(s.id) && before.sources.get(s.id)?.read !== s.read);
  change(() => {
    state.connection = "live";
    state.loaded = true;
    Object.assign(server, { instance: delta.instance, build: delta.build, rev: delta.rev, host: delta.host, sendTo: delta.send_to, git: delta.git, fixes: delta.fixes, order: delta.order });
    if (restarted) server.sources = new Map();
    for (const s of delta.sources) server.sources.set(s.id, s);
    for (const id of [...server.sources.keys()]) if (!delta.order.includes(id)) server.sources.delete(id);
    if (delta.overlap) {
      server.overlap = new Map(delta.overlap.map((/** @type {any} */ n) => [endpointID({ source: n.source, version: n.version, endpoint: n.key }), n]));
    }
  });
  if (!restarted && !restoring) for (const s of delta.sources) keepBase(s);
  for (const s of saved) {
    if (s.kind === "file") announce(`${s.name} was saved. ${summary(s.findings)}.`);
  }
  if (restarted) restore(before);
  else if (state.asked.host || state.asked.features) applyAsked();
  else keepPlace();
  if (first) restoreRegistered();
}

/** summary says how many findings there are. @param {{ severity: string }[]} findings */
export function summary(findings) {
  const errors = findings.filter((f) => f.severity === "error").length;
  const warnings = findings.length - errors;
  const parts = [];
  if (errors) parts.push(`${errors} error${errors === 1 ? "" : "s"}`);
  if (warnings) parts.push(`${warnings} warning${warnings === 1 ? "" : "s"}`);
  return parts.join(", ") || "No findings";
}

/** keepPlace puts what is shown into the address, where that does not say yet. */
function keepPlace() {
  const s = source();
  const at = current();
  if (s && state.route.source === "") state.route.source = s.id;
  if (at && (state.route.version !== at.version.name || state.route.endpoint === "" || state.route.endpoint !== at.endpoint.key)) {
    const known = at.source.versions.some((v) => v.name === state.route.version);
    if (state.route.endpoint === "" || !known) Object.assign(state.route, { version: at.version.name, endpoint: at.endpoint.key });
  }
  settle();
  change();
}

/** applyAsked asks the server for the deployment that a link names. */
async function applyAsked() {
  const { host, features } = state.asked;
  state.asked = { host: "", features: null };
  const s = source();
  if (host && s && s.kind !== "address" && host !== state.server.host) await deploy({ host });
  if (features && s && s.features.length) {
    const known = s.features.map((f) => f.name);
    const on = features.filter((name) => known.includes(name));
    const now = s.features.filter((f) => f.enabled).map((f) => f.name);
    if (JSON.stringify([...on].sort()) !== JSON.stringify([...now].sort())) await deploy({ source: s.id, features: on });
  }
  keepPlace();
}

/**
 * restore gives a server that was started anew what the page had: its addresses and the deployment.
 * @param {{ host: string, sendTo: string, sources: Map<string, import("./types.js").Source> }} before
 */
async function restore(before) {
  restoring = true;
  /** @type {{ host?: string, send_to?: string }} */
  const lost = {};
  if (before.host !== state.server.host) lost.host = before.host;
  if (before.sendTo !== state.server.sendTo) lost.send_to = before.sendTo;
  if (Object.keys(lost).length) await deploy(lost);
  for (const s of before.sources.values()) {
    const now = state.server.sources.get(s.id);
    const on = s.features.filter((f) => f.enabled).map((f) => f.name);
    if (now && JSON.stringify(now.features) !== JSON.stringify(s.features)) await deploy({ source: s.id, features: on });
  }
  const addresses = new Set([...state.registered, ...[...before.sources.values()].filter((s) => s.kind === "address").map((s) => s.id)]);
  await Promise.all([...addresses].filter((address) => !state.server.sources.has(address)).map(reregister));
  for (const { base } of bases.values()) await call("/api/base", base).catch(() => {});
  restoring = false;
  await refresh();
}

/** keepBase keeps what the changes of a source are shown against, for a server that is started anew. @param {import("./types.js").Source} s */
async function keepBase(s) {
  const deployment = JSON.stringify([s.since, s.host, s.features]);
  if (!s.judged || s.kind === "example" || !s.since || bases.get(s.id)?.deployment === deployment) return;
  try {
    const base = await call(`/api/base?source=${encodeURIComponent(s.id)}`);
    if (!restoring) bases.set(s.id, { deployment, base });
  } catch {
    // Then changes begin anew after a restart.
  }
}

/** The bases by source, each with the deployment that it is for. @type {Map<string, { deployment: string, base: unknown }>} */
const bases = new Map();
let restoring = false;

/** reregister registers an address again. One that fails is kept and says so. @param {string} address */
async function reregister(address) {
  try {
    await call("/api/register", { address, keep: true }, { timeout: remoteTimeout });
  } catch {
    // The source that was kept has the failure.
  }
}

/** restoreRegistered registers what this tab had registered, after a reload of the page in front of another server. */
async function restoreRegistered() {
  const missing = state.registered.filter((address) => !state.server.sources.has(address));
  await Promise.all(missing.map(reregister));
  if (missing.length) await refresh();
}

/** deploy changes the deployment. It returns whether the server agreed. @param {Record<string, unknown>} wish */
export async function deploy(wish) {
  try {
    await call("/api/deployment", wish);
    change(() => { state.failures.deployment = null; });
    await refresh();
    return true;
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    const { failure } = refused;
    change(() => { state.failures.deployment = failure; });
    return false;
  }
}

// Between a phone and a desk there is room for an endpoint and its response, and the list is a screen of its own.
const twoPanes = "(min-width: 681px) and (max-width: 940px)";

/** arrive takes over the address of the page. @param {boolean} first */
export function arrive(first) {
  if (!location.hash.startsWith("#/")) {
    if (!first) return;
    if (matchMedia(twoPanes).matches) state.route.pane = "endpoint"; // so that a feed is the first thing to see
    settle();
    return;
  }
  const address = parse(location.hash);
  change(() => {
    state.route = address.route;
    state.asked = { host: address.host, features: address.features };
    const { source: id, endpoint } = address.route;
    if (id && endpoint) state.typed[endpointID(address.route)] = address.typed;
    state.picked = null;
  });
  if (state.loaded) applyAsked();
}

