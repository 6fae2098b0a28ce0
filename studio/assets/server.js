// The page talks to its own server alone, which does everything else.

import { state } from "./store.js";

/** deployment is what the tab asks of the deployment, as the server takes it; empty means what the studio was
 * started with. */
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

// A call to the studio itself takes milliseconds, unless the machine is busy. One that waits for another server takes
// as long as that may.
const defaultTimeout = 30000;
export const remoteTimeout = 40000;

/** ask sends a request, and lets read take the response. With a body it is a POST.
 * @template T @param {string} path @param {unknown} body
 * @param {{ limit?: AbortSignal, signal?: AbortSignal }} signals limit: for how long
 * @param {(response: Response) => Promise<T>} read @returns {Promise<T>} */
async function ask(path, body, { limit, signal }, read) {
  /** @type {RequestInit} */
  const request = { signal: AbortSignal.any([signal, limit].flatMap((s) => s ?? [])) };
  if (body !== undefined) {
    Object.assign(request, { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body) });
  }
  try {
    const response = await fetch(within(path), request);
    if (!response.ok) throw new Refused(await response.json());
    return await read(response);
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (signal?.aborted) throw new Cancelled();
    throw new Refused(limit?.aborted ? late : gone);
  }
}

/** call asks the server.
 * @param {string} path @param {unknown} [body] @param {{ timeout?: number, signal?: AbortSignal }} [options]
 * @returns {Promise<any>} */
export const call = (path, body, { timeout = defaultTimeout, signal } = {}) =>
  ask(path, body, { limit: AbortSignal.timeout(timeout), signal }, (response) => response.json());

/** lines asks the server and calls onLine with each line of JSON as it arrives.
 * @param {string} path @param {unknown} body @param {AbortSignal} signal @param {(line: any) => void} onLine */
export const lines = (path, body, signal, onLine) => ask(path, body, { signal }, async (response) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader?.read() ?? { done: true };
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) onLine(JSON.parse(part));
  }
});

/** follow calls onState whenever the server has a new revision, and onLost when it does not answer. A browser opens
 * six connections to a host, so a tab holds a stream of events only while it can be seen.
 * @param {(message: { instance: string, rev: number }) => void} onState @param {() => void} onLost */
export function follow(onState, onLost) {
  /** @type {EventSource | undefined} */
  let events;
  const listen = () => {
    events?.close();
    if (document.hidden) return;
    const stream = events = new EventSource("/api/events");
    stream.addEventListener("state", (event) => onState(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      onLost();
      if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000); // after an answer that is no stream
    });
  };
  document.addEventListener("visibilitychange", listen);
  listen();
}
