// The page talks to its own server alone, which does everything else.

import { state } from "./store.js";

/** @typedef {import("./types.js").Failure} Failure */

/** deployment is what the tab asks of the deployment, as the server takes it; empty means what the studio was started with. */
export function deployment() {
  const { host, features } = state.route;
  return host === "" && Object.keys(features).length === 0 ? "" : JSON.stringify({ host, features });
}

/** within names the deployment of the tab in a path. @param {string} path @param {string} [wish] */
export const within = (path, wish = deployment()) => (wish === "" ? path
  : `${path}${path.includes("?") ? "&" : "?"}deployment=${encodeURIComponent(wish)}`);

/** Refused is an answer that is not a result: what is wrong, what to do, and findings if there are any. */
export class Refused extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.detail);
    this.failure = failure;
  }
}

/** Cancelled is thrown by a call that was cancelled. */
export class Cancelled extends Error {}

const gone = {
  detail: "The studio is not responding.",
  hint: "Check in the terminal whether signpost studio is still running.",
};

const late = { detail: "The studio took too long to respond.", hint: "Try again." };

// A call to the studio itself takes milliseconds, unless the machine is busy. One that waits for another server takes as long as that may.
const defaultTimeout = 30000;
export const remoteTimeout = 40000;

/**
 * call asks the server. With a body it is a POST.
 * @param {string} path
 * @param {unknown} [body]
 * @param {{ timeout?: number, signal?: AbortSignal }} [options]
 * @returns {Promise<any>}
 */
export async function call(path, body, { timeout = defaultTimeout, signal } = {}) {
  const limit = AbortSignal.timeout(timeout);
  /** @type {RequestInit} */
  const request = { signal: signal ? AbortSignal.any([signal, limit]) : limit };
  if (body !== undefined) {
    Object.assign(request, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }
  let response, result;
  try {
    response = await fetch(within(path), request);
    result = await response.json();
  } catch {
    if (signal?.aborted) throw new Cancelled();
    throw new Refused(limit.aborted ? late : gone);
  }
  if (!response.ok) throw new Refused(result);
  return result;
}

/**
 * lines asks the server and calls onLine with each line of JSON as it arrives.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} signal
 * @param {(line: any) => void} onLine
 */
export async function lines(path, body, signal, onLine) {
  let response;
  try {
    const headers = { "Content-Type": "application/json" };
    response = await fetch(within(path), { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch {
    if (signal.aborted) throw new Cancelled();
    throw new Refused(gone);
  }
  if (!response.ok || !response.body) throw new Refused(await response.json());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) onLine(JSON.parse(part));
    }
  } catch {
    if (signal.aborted) throw new Cancelled();
    throw new Refused(gone);
  }
}

/**
 * follow calls onState whenever the server has a new revision, and onLost when it does not answer. A browser opens six
 * connections to a host, so one tab holds the stream of events and tells the others.
 * @param {(message: { instance: string, rev: number }) => void} onState
 * @param {() => void} onLost
 */
export function follow(onState, onLost) {
  const channel = new BroadcastChannel("signpost-studio");
  const hear = (/** @type {any} */ message) => {
    if (message.lost) onLost();
    else if (message.instance) onState(message);
  };
  channel.onmessage = ({ data }) => hear(data);
  const tell = (/** @type {any} */ message) => {
    channel.postMessage(message);
    hear(message);
  };
  const lead = () => navigator.locks.request("signpost-studio-events", () => new Promise((release) => {
    const events = new EventSource("/api/events");
    events.addEventListener("state", (event) => tell(JSON.parse(event.data)));
    events.addEventListener("error", () => tell({ lost: true }));
    // A page that was left may be kept for Back, and must not keep the stream.
    addEventListener("pagehide", () => { events.close(); release(undefined); }, { once: true });
  }));
  addEventListener("pageshow", (event) => { if (event.persisted) lead(); });
  lead();
}
