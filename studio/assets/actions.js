// What the page does when somebody asks for it.

import { announce, byId, count, entries } from "./dom.js";
import { read } from "./feed.js";
import { parseJSON } from "./json.js";
import { endpointID, go, own, settle } from "./route.js";
import {
  bind, contextSet, current, defaultOf, destination, endpointsOf, filled, paramsOf, sendOf, sendTo, signature, source,
  typedFor, valueOf,
} from "./select.js";
import { call, Cancelled, lines, Refused, remoteTimeout } from "./server.js";
import { after, change, state } from "./store.js";
import { refresh } from "./sync.js";

/** attempt runs an action, once at a time, and keeps a failure for the part of the page that shows it.
 * @param {string} part @param {() => Promise<void>} action */
async function attempt(part, action) {
  if (state.busy[part]) return;
  change((state) => {
    state.busy[part] = true;
    state.failures[part] = null;
  });
  try {
    await action();
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    const { failure } = refused;
    change((state) => { state.failures[part] = failure; });
  } finally {
    change((state) => { state.busy[part] = false; });
  }
}

// Composing

const autoDelay = 350; // a request is sent when the typing pauses
let autoTimer = 0;

/** currentDraft returns the draft of what is filled in, if it is there. @returns {Draft | null} */
export function currentDraft() {
  const at = current();
  const draft = at && load("draft", [filled(at), at.endpoint.url], "/api/compose", () => filled(at), composed);
  return draft?.url === undefined ? null : draft;
}

/** composed sends the request of a new draft, and gets one that failed again. */
function composed() {
  const at = current();
  clearTimeout(autoTimer);
  if (state.draft?.failure) setTimeout(() => change((state) => { state.draft = null; }), 2000);
  else autoTimer = window.setTimeout(autoSend, at && state.answers[at.id] ? autoDelay : 0);
}

/** autoSend sends after a change, where that is wanted and harmless. */
function autoSend() {
  const at = current();
  if (!at || !state.auto || at.endpoint.method !== "get" || state.route.view !== "preview") return;
  const sample = sendOf(at.source) === "sample";
  if (!sample && !state.sentTo[at.id + destination(at)] || sendOf(at.source) === "origin" && !sendTo()) return;
  const draft = currentDraft(); // otherwise the next one sends
  if (!draft || draft.owner || draft.problems.some((p) => !p.context)
    || (!sample && draft.problems.length)) return;
  if (state.answers[at.id]?.[0]?.sent.signature === signature(at) || state.pending?.signature === signature(at)) return;
  send({ without: sample, quiet: true });
}

/** sendFirst gets the sample of the first endpoint while the browser lays out the page. It needs no draft, so the cards
 * are there 50 ms earlier (BenchmarkPage/Cards). */
export function sendFirst() {
  const at = current();
  const complete = at?.endpoint.method === "get" && at.endpoint.placeholders.length === 0;
  if (!complete || !state.auto || state.route.view !== "preview" || sendOf(at.source) !== "sample") return;
  send({ without: true, quiet: true });
}

// Typing

/** type keeps what was typed into a placeholder or a control.
 * @param {"params" | "modifiers"} kind @param {string} name
 * @param {string | undefined} text undefined is the default again */
export function type(kind, name, text) {
  const at = current();
  if (!at) return;
  change((state) => {
    const typed = structuredClone(typedFor(at));
    if (text === undefined) delete typed[kind][name];
    else own(typed[kind], name, text);
    state.typed[at.id] = typed;
  });
  settle();
}

/** typeContext keeps a context value, for the place that requests go to.
 * @param {string} key @param {Partial<ContextValue>} value @param {string} to */
export function typeContext(key, value, to) {
  change((state) => {
    const { values } = contextSet();
    const here = values[to] ?? {};
    own(here, key, { text: "", json: false, ...(Object.hasOwn(here, key) ? here[key] : {}), ...value });
    values[to] = here;
  });
}

// Sending

const historyLength = 8;
let answersKept = 0;

// So many changed controls are named in the history, which has a line for several responses.
const maxLabelled = 2;

/** send sends the request.
 * @param {{ without?: boolean, quiet?: boolean }} [options]
 * without: although required context keys are missing */
export async function send({ without = false, quiet = false } = {}) {
  const at = current();
  if (!at || state.connection === "lost") return;
  const sent = sentNow(at);
  if (state.pending) {
    if (!quiet) return;
    state.pending.controller.abort(); // what is on its way is the response to something else
  }
  const controller = new AbortController();
  const pending = { controller, id: at.id, signature: sent.signature, since: performance.now() };
  const ticking = setInterval(() => change(), 1000);
  change((state) => {
    state.pending = pending;
    if (quiet) return;
    state.sentTo[at.id + destination(at)] = true;
    state.unfolded.answer = true; // where there is room for one pane
  });
  try {
    const response = await call("/api/send", { ...filled(at), without },
      { timeout: remoteTimeout, signal: controller.signal });
    keep(sent, response, null);
    if (!quiet) announce(`Response: ${response.status} ${response.status_text}`);
    change((state) => { state.attention = false; });
    if (!quiet) after(() => byId("answer-facts")?.scrollIntoView({ block: "nearest" }));
  } catch (refused) {
    if (refused instanceof Cancelled) {
      if (!quiet && state.pending === pending) announce("Cancelled.");
    } else if (!(refused instanceof Refused)) {
      throw refused;
    } else if (refused.failure.problems?.length) {
      if (quiet) return; // the fields say so themselves
      change((state) => { state.attention = true; });
      focusField(refused.failure.problems[0].field);
    } else {
      keep(sent, null, refused.failure);
    }
  } finally {
    clearInterval(ticking);
    if (state.pending === pending) change((state) => { state.pending = null; });
  }
}

/** sentNow records what is sent, by which the response is judged when it arrives.
 * @param {Current} at @returns {Sent} */
function sentNow(at) {
  const typed = typedFor(at);
  const limit = Number(filled(at).modifiers.limit || NaN);
  const changed = paramsOf(at.endpoint).filter((p) => valueOf(p, typed) !== defaultOf(p));
  return {
    at, signature: signature(at), limit: Number.isInteger(limit) && limit >= 0 ? limit : null,
    changed: changed.map((p) => `${p.label || p.key} ${valueOf(p, typed) || "not set"}`),
  };
}

/** cancel ends the request that is on its way. */
export function cancel() {
  state.pending?.controller.abort();
  change((state) => { state.pending = null; });
}

/** @param {Sent} sent @param {FeedResponse | null} response @param {Failure | null} failure */
function keep(sent, response, failure) {
  const json = response && response.body !== "" ? parseJSON(response.body, response.truncated || response.incomplete)
    : null;
  const cards = json && read(json.root);
  const result = !response ? "failed" : response.status !== 200
    || !cards ? String(response.status) : entries(cards.total);
  /** @type {Answer} */
  const answer = {
    id: ++answersKept, at: Date.now(), sent, response, failure, json, cards,
    label: [...sent.changed.slice(0, maxLabelled), result].join(", "),
  };
  change((state) => {
    state.answers[sent.at.id] = [answer, ...(state.answers[sent.at.id] ?? [])].slice(0, historyLength);
    forget(state, answer);
    state.past = 0;
    state.picked = pickedAgain(answer);
    state.folded = {};
  });
}

// So many bytes of bodies are kept over all endpoints. Parsed, they take several times as much.
const maxKept = 4 << 20;

/** forget drops the oldest answers of all, but never the newest. @param {State} state @param {Answer} newest */
function forget(state, newest) {
  let bytes = 0;
  const kept = new Set();
  for (const answer of Object.values(state.answers).flat().sort((a, b) => b.id - a.id)) {
    bytes += answer.response?.bytes ?? 0;
    if (bytes <= maxKept || answer === newest) kept.add(answer);
  }
  for (const [id, answers] of Object.entries(state.answers)) state.answers[id] = answers.filter((answer) =>
    kept.has(answer));
}

/** pickedAgain returns the entry that was picked, if a new response has it too. @param {Answer} answer */
function pickedAgain(answer) {
  const before = state.picked && JSON.stringify(state.picked.card.entry);
  const card = before && answer.cards?.cards.find((other) => JSON.stringify(other.entry) === before);
  return card ? { answer, card } : null;
}

/** focusField puts the focus on a field, when it is there. @param {string} name */
export function focusField(name) {
  go({ pane: "endpoint" }, { replace: true });
  change((state) => {
    state.unfolded.answer = false;
    if (name.startsWith("context:")) state.unfolded.context = true;
  });
  const selector = `[data-field="${CSS.escape(name)}"] :is(input, select, textarea)`;
  after(() => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus());
}

// Going elsewhere

/** openEndpoint shows an endpoint, with the placeholders and controls that a feed of it has. The feed may be on another
 * host.
 * @param {{ source: string, version: string, key: string, url?: string }} to @param {string} [feed]
 * @param {Typed} [typed] instead of a feed */
export function openEndpoint({ source, version, key, url }, feed, typed) {
  const target = { source, version, endpoint: key };
  const id = endpointID(target);
  const s = state.server.sources.get(source);
  const at = s && endpointsOf([s]).find((other) => other.id === id);
  change((state) => {
    if (at && feed) state.typed[id] = bind(url ? { ...at.endpoint, url } : at.endpoint, feed);
    if (typed) state.typed[id] = typed;
    state.picked = null;
    state.dialog = "";
    if (state.pending && state.pending.id !== id) cancel();
  });
  go({ view: "preview", pane: "endpoint", ...target });
  after(() => {
    byId("endpoint-name")?.focus({ preventScroll: true });
    document.querySelector("#endpoints [aria-current]")?.scrollIntoView({ block: "nearest" });
  });
}

/** openFeed shows the endpoint that a feed belongs to, or the map if there is none. @param {string} feed */
export async function openFeed(feed) {
  const match = await call("/api/match", { feed });
  if (match.found) openEndpoint(match.winner, feed);
  else go({ view: "map", feed });
}

/** choose shows another service, in the view that is shown. @param {string} id */
export function choose(id) {
  change((state) => { state.unfolded["service:" + id] = true; });
  go({ source: id, version: "", endpoint: "", filter: "", base: "registered", of: "" });
}

// The deployment, which is that of the tab

/** @param {string} host */
export async function setHost(host) {
  change((state) => { state.failures.deployment = null; });
  if (host.trim() === source()?.host) return;
  go({ host: host.trim() }, { replace: true });
  await refresh();
  if (state.failures.deployment) return;
  go({ host: state.server.host }, { replace: true }); // as the server spells it
  await refresh();
  announce(`The host is ${state.server.host}.`);
}

/** flipFeature flips a switch, also before the server has answered to the last one.
 * @param {Source} s @param {string} name */
export async function flipFeature(s, name) {
  const on = state.route.features[s.id] ?? s.features.filter((f) => f.enabled).map((f) => f.name);
  const features = s.features.map((f) => f.name).filter((f) => on.includes(f) !== (f === name));
  const before = current()?.endpoint.context.map((item) => item.key) ?? [];
  go({ features: { ...state.route.features, [s.id]: features } }, { replace: true });
  await refresh();
  const at = current();
  const now = at?.endpoint.context.map((item) => item.key) ?? [];
  change((state) => {
    state.arrived = at && {
      feature: name, id: at.id, added: now.filter((key) => !before.includes(key)),
      removed: before.filter((key) => !now.includes(key)),
    };
  });
}

/** @param {string} text */
export function setOrigin(text) {
  const origin = text.trim().replace(/\/$/, "");
  const fine = /^https?:\/\/[^/?#@\s]+$/i.test(origin) && URL.canParse(origin);
  change((state) => {
    state.failures.deployment = fine || origin === "" ? null
      : { detail: `“${origin}” is not an origin.`,
        hint: "Enter scheme, host and port of a server, such as your own on this machine." };
    if (fine || origin === "") state.sendTo = fine ? new URL(origin).origin : "";
  });
}

// Registering

/** @param {string} address */
export const register = (address) => attempt("register", async () => {
  const { source: id } = await call("/api/register", { address }, { timeout: remoteTimeout });
  change((state) => { state.registered = [...new Set([...state.registered, id])]; });
  await refresh();
  change((state) => { state.dialog = ""; state.unfolded["service:" + id] = true; });
  go({ view: "preview", source: id, version: "", endpoint: "", filter: "", pane: "list" });
  announce(`Registered: ${count(state.server.sources.get(id)?.versions[0]?.endpoints.length ?? 0, "endpoint")}.`);
});

/** @param {string} id */
export const update = (id) => attempt("source:" + id, async () => {
  change((state) => { delete state.updated[id]; });
  await call("/api/update", { source: id }, { timeout: remoteTimeout });
  await refresh();
  const changes = state.server.sources.get(id)?.changes ?? [];
  change((state) => { state.updated[id] = { at: Date.now(), changes }; });
  announce(`Updated: ${changesIn(changes)}.`);
});

/** changesIn says what an update found. @param {Change[]} changes */
export function changesIn(changes) {
  const breaking = changes.filter((c) => c.level === "breaking").length;
  const others = changes.length - breaking;
  if (changes.length === 0) return "nothing has changed";
  if (breaking === 0) return count(changes.length, "change");
  return count(breaking, "breaking change") + (others > 0 ? `, ${others} other` : "");
}

/** @param {string} id */
export const remove = (id) => attempt("remove:" + id, async () => {
  await call("/api/remove", { source: id });
  change((state) => { state.registered = state.registered.filter((address) => address !== id); });
  await refresh();
  if (state.route.source === id) go({ source: "", version: "", endpoint: "" });
  announce("Removed.");
  byId("register-button")?.focus();
});

/** @param {string} id */
export const accept = (id) => attempt("changes", async () => {
  await call("/api/accept", { source: id });
  await refresh();
  change((state) => { state.changes = null; delete state.updated[id]; });
  announce("Accepted. From now on, changes are compared with this state.");
});

/** applyFix writes the fix of a problem into the file, which the page then follows.
 * @param {string} id @param {Finding} f */
export const applyFix = (id, f) => attempt("fix", async () => {
  await call("/api/fix", { source: id, rule: f.rule, line: f.line, column: f.column });
  announce(`Applied: ${f.fix?.message}.`);
});

/** start writes the starter into an empty file. @param {string} id */
export const start = (id) => attempt("fix", async () => {
  await call("/api/start", { source: id });
  announce("The starter was written.");
});

// What is shown is asked for on rendering, when it is not there yet.

/** What is on its way, by the part of the state that it is for. @type {Record<string, string>} */
const asked = {};

/** load asks for what is shown, unless that is there or on its way, and returns it if it is there.
 * @template {"draft" | "changes" | "text" | "match" | "difference"} Part
 * @param {Part} part @param {unknown[]} wish @param {string} path
 * @param {() => unknown} body @param {() => void} [arrived] @returns {State[Part]} */
function load(part, wish, path, body, arrived) {
  const there = /** @type {State[Part]} */ (state[part]);
  const signature = JSON.stringify([wish, state.server.instance, state.server.rev, state.server.deployment]);
  if (there?.signature === signature) return there;
  if (asked[part] === signature || state.connection !== "live") return null;
  asked[part] = signature;
  call(path, body(), { timeout: remoteTimeout }).catch((refused) => ({ failure: refused.failure })).then((result) => {
    if (asked[part] !== signature) return;
    asked[part] = "";
    change((state) => Object.assign(state, { [part]: { signature, ...result } }));
    arrived?.();
  });
  return null;
}

/** loadChanges compares with the base that was chosen. @param {string} id */
export function loadChanges(id) {
  const { base, of, version } = state.route;
  return base === "git" && !of ? null
    : load("changes", [id, base, of, version], "/api/changes", () => ({ source: id, version, base, of }));
}

/** loadText gets the text of a source for its findings. @param {string} id */
export const loadText = (id) => load("text", [id], "/api/text", () => ({ source: id }));

/** loadDifference compares two answers. @param {number[]} ids @param {() => { before: string, now: string }} texts */
export const loadDifference = (ids, texts) => load("difference", ids, "/api/difference", texts);

/** loadMatch finds out where the feed of the map lands. */
export function loadMatch() {
  const { feed } = state.route;
  if (feed.trim() !== "") load("match", [feed], "/api/match", () => ({ feed }));
}

/** valuesFor returns what was filled in for each endpoint of a version. A context value is for the place that it was
 * entered for, as it is when a request is sent.
 * @param {Source} s @param {string} name */
function valuesFor(s, name) {
  const all = {};
  for (const at of endpointsOf([s])) {
    const { params, context } = filled(at);
    const some = Object.keys(params).length + Object.keys(context).length > 0;
    if (some && at.version.name === name) own(all, at.endpoint.url, { params, context });
  }
  return all;
}

/** checkSignature is a text that changes when the checks would look at something else. @param {Source} s */
export const checkSignature = (s) => JSON.stringify([state.server.instance, state.server.rev, state.server.deployment,
  sendOf(s), sendTo()]);

/** runCheck runs the checks, and shows each result when it is there. @param {Source} s @param {string} version */
export async function runCheck(s, version) {
  state.check?.controller?.abort();
  const controller = new AbortController();
  /** @type {CheckRun} */
  const run = { source: s.id, version, signature: checkSignature(s), results: [], done: 0, total: 0, running: true,
    ok: false, failure: null, controller };
  change((state) => { state.check = run; });
  try {
    await lines("/api/check", {
      source: s.id, version, send: sendOf(s), to: sendTo(), endpoints: valuesFor(s, version),
    }, controller.signal, (line) => change((state) => {
      if (line.result) run.results.push(line.result);
      if (line.total) Object.assign(run, { done: line.done, total: line.total });
      if (line.end) run.ok = line.ok;
    }));
    announce(run.ok ? "No check failed." : "Some checks failed.");
  } catch (refused) {
    if (refused instanceof Refused) run.failure = refused.failure;
    else if (refused instanceof Cancelled) run.failure = { detail: "The check was cancelled." };
    else throw refused;
  } finally {
    change((state) => { run.running = false; });
  }
}
