// The one state of the page. Everything reads it; change alone changes it, and the page is rendered once for all
// changes at a time.

/** The fields of a route that are texts, and what they are where the address does not say. */
export const routeTexts = {
  source: "", version: "", endpoint: "", pane: "list", tab: "cards", filter: "", send: "", base: "registered", of: "",
  host: "", feed: "",
};

/** @type {State} */
const mutable = {
  connection: "connecting",
  loaded: false,
  server: {
    instance: "", build: "", rev: 0, deployment: "", host: "", sendTo: "", timeout: 0, sources: new Map(),
    overlap: new Map(), lists: {},
  },
  route: { view: "preview", ...routeTexts, features: {} },
  typed: {},
  names: {},
  // The signed-in viewer has a sample value for every key of sample data.
  sets: [{ id: "1", name: "signed-in viewer", values: {} }, { id: "2", name: "anonymous viewer", values: {} }],
  set: "1",
  sendTo: null,
  shown: {},
  auto: true,
  sentTo: {},
  draft: null,
  attention: false,
  pending: null,
  answers: {},
  past: 0,
  picked: null,
  folded: {},
  unfolded: {},
  busy: {},
  failures: {},
  updated: {},
  dialog: "",
  palette: { text: "", at: 0 },
  match: null,
  changes: null,
  difference: null,
  usage: null,
  arrived: null,
  text: null,
  check: null,
  registered: [],
};

/** state is for reading: its type lets nobody else write. @type {Shown} */
export const state = mutable;

/** @type {() => void} */
let render = () => {};
let scheduled = false;

/** What is to be done when the page shows the state. @type {(() => void)[]} */
let waiting = [];

/** after does something once the page shows the state, such as moving the focus. @param {() => void} f */
export function after(f) {
  waiting.push(f);
  change();
}

/** @type {(state: State) => void} */
let tidy = () => {};

/** onChange says what renders the state, and what makes it consistent before.
 * @param {() => void} f @param {(state: State) => void} before */
export function onChange(f, before) {
  render = f;
  tidy = before;
}

/** change renders the page soon. @param {(state: State) => void} [f] changes the state */
export function change(f) {
  f?.(mutable);
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(() => {
    scheduled = false;
    tidy(mutable);
    remember();
    render();
    const now = waiting;
    waiting = [];
    for (const f of now) f();
  });
}

// What this tab keeps when it is reloaded. Context values are kept nowhere else. The address may have the route a
// second late.
const kept = /** @type {const} */ (["route", "typed", "sets", "set", "sendTo", "auto", "registered"]);
const storageKey = "signpost-studio";
let before = "";

function remember() {
  const text = JSON.stringify(Object.fromEntries(kept.map((name) => [name, state[name]])));
  if (text === before) return;
  before = text;
  try {
    sessionStorage.setItem(storageKey, text);
  } catch {
    // Without storage, or with more than it takes, a reload forgets what was typed.
  }
}

/** recall takes over what the tab kept. It returns the route, which is that of the page only after a reload.
 * @returns {Route | null} */
export function recall() {
  try {
    const { route = null, ...stored } = JSON.parse(sessionStorage.getItem(storageKey) ?? "{}");
    Object.assign(mutable, stored);
    return route;
  } catch {
    return null; // There is no storage.
  }
}
