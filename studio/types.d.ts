// The types of the scripts of the page, for the TypeScript compiler. The page itself does not need them.

/** VNode describes an element, or a text if its tag is "#text". Its children are as before while deps are. */
type VNode = { tag: string, key: any, props: Record<string, any>, children: VNode[], text: string, deps: unknown[] | null,
  make: (() => Child[]) | null };

/** Props are the attributes, properties and listeners of an element. */
type Listener = (event: any) => unknown;
type Props = { [name: string]: any, created?: (node: any) => unknown, onclick?: Listener, oninput?: Listener,
  onchange?: Listener, onkeydown?: Listener, onsubmit?: Listener, ontoggle?: Listener, onclose?: Listener };

/** Child can stand inside an element. */
type Child = VNode | string | number | null | undefined | false | any[];

type Param = { key: string, label: string, placeholder: string, control: string,
  options: { value: string, label: string }[], default: string | null };
type Modifier = { id: string, name: string, params: Param[], deprecated: string };
type ContextField = { key: string, type: string, required: boolean, sent_as: string, sent: boolean, feature: string, about: string };
type Endpoint = { key: string, url: string, origin: string, name: string, method: string, mime_type: string, foreign: boolean,
  placeholders: string[], context: ContextField[], modifiers: Modifier[], deprecated: string };
type Version = { name: string, route: string, endpoints: Endpoint[] };
type Fix = { message: string, edits: unknown[] };
type Finding = { rule: string, severity: string, message: string, file: string, line: number, column: number, hint: string,
  width: number, key: string, field: string, fix?: Fix | null };
type Change = { rule: string, level: string, version: string, endpoint: string, message: string, old: unknown, subject: string[],
  doing: string, requests?: number, of?: number };
type Failure = { detail: string, hint?: string, findings?: Finding[], problems?: Problem[], status?: number };
type Source = { id: string, base_path: string, kind: "file" | "example" | "address", path: string, title: string, host: string,
  host_open: boolean, formatted: boolean, empty: boolean, stale: boolean, read?: string, judged: boolean, features: { name: string, enabled: boolean }[], versions: Version[],
  findings: Finding[], notes: string[], failure: Failure | null, changes: Change[], since?: string };
type Marks = { lost: string[], problems: number, errors: boolean, changed: boolean };
type Reference = { source: string, version: string, key: string, name: string, url: string };
type Loser = Reference & { lost_keys: string[], reason: "length" | "literals" | "order", inside: boolean };
type Nesting = Reference & { under: Loser[] };
type Match = { feed: string, found: boolean, problem: string, winner: Reference, context_obj: { key: string }[], inside_segment: boolean,
  losers: Loser[] };
type Problem = { field: string, message: string, context: boolean };
type EndpointUsage = { service: string, version: string, url: string, requests: number, errors: number,
  params: Record<string, { set: number, options?: Record<string, number>, other: number }> };
type Usage = { requests: number, period: string, endpoints: EndpointUsage[] };
type Draft = { method: string, url: string, ctx: string, body: string, body_type: string,
  snippets: { name: string, text: string }[], problems: Problem[],
  owner: Match | null, signature: string, failure?: Failure };
type FeedResponse = { status: number, status_text: string, url: string, method: string, to: string,
  declared: boolean, headers: [string, string][], body: string, binary: boolean, bytes: number, truncated: boolean,
  incomplete: boolean, millis: number, sample: boolean, notes: string[] };

/** Sent is what was sent, as it was then. */
type Sent = { at: Current, signature: string, limit: number | null, changed: string[] };
type Answer = { id: number, at: number, sent: Sent, response: FeedResponse | null, failure: Failure | null, json: Json | null,
  cards: Feed | null, label: string };

/** JsonNode is a JSON value as it was sent: name is the literal of a key, text that of a value. */
type JsonNode = { kind: "object" | "array" | "string" | "number" | "word", text: string, items: { name: string, node: JsonNode }[],
  closed: boolean };
type Json = { root: JsonNode, cut: boolean };
type Card = { title: string, picture: string, facts: string[], free: boolean, links: string[], entry: any, node: JsonNode };
type Feed = { cards: Card[], total: number, array: boolean };
type ContextValue = { text: string, json: boolean };

/** ContextSet has values by destination, then by key. */
type ContextSet = { id: string, name: string, values: Record<string, Record<string, ContextValue>> };
type Typed = { params: Record<string, string>, modifiers: Record<string, string> };
type Current = { source: Source, version: Version, endpoint: Endpoint, id: string };
type CheckResult = { check: string, status: string, endpoint: string, message: string, hint: string };
type CheckRun = { source: string, version: string, signature: string, results: CheckResult[], done: number, total: number, running: boolean, ok: boolean,
  failure: Failure | null, controller: AbortController | null };

/** Route is what the address says. */
interface Route {
  view: string;
  source: string;
  version: string;
  endpoint: string; // the key of it
  pane: string; // whether a narrow window shows the list or the endpoint
  tab: string; // of the answer
  filter: string;
  send: string; // empty means what fits the source
  base: string; // of the changes
  of: string;
  host: string; // empty means that of the studio
  features: Record<string, string[]>; // by source, where they are not those of the studio
  feed: string; // on the map
}

/** Shown is the state as everything but change sees it. */
type Shown = { readonly [K in keyof State]: Readonly<State[K]> };

interface State {
  connection: "connecting" | "live" | "lost";
  loaded: boolean;
  server: { instance: string, build: string, rev: number, deployment: string, host: string, sendTo: string, timeout: number,
    sources: Map<string, Source>,
    overlap: Map<string, Nesting>, lists: Record<string, any[]> };
  route: Route;
  typed: Record<string, Typed>; // by endpoint
  names: Record<string, string>; // of the endpoints that were looked at, to find one again whose URL has changed
  sets: ContextSet[];
  set: string; // the id of the one that is used
  sendTo: string | null; // the other server, if the tab has chosen one
  shown: Record<string, boolean>; // the context keys whose value is not masked
  auto: boolean; // send when a control has changed
  sentTo: Record<string, boolean>; // the destinations that the user has sent to
  draft: Draft | null;
  attention: boolean; // whether fields that lack something are marked
  pending: { controller: AbortController, id: string, signature: string, since: number } | null;
  answers: Record<string, Answer[]>; // by endpoint, the latest first
  past: number; // the id of the response before that is looked at, or 0
  picked: { answer: Answer, card: Card } | null;
  folded: Record<string, boolean>; // JSON by its path
  unfolded: Record<string, boolean>; // parts of the page
  busy: Record<string, boolean>;
  failures: Record<string, Failure | null>; // by the place where they are shown
  updated: Record<string, { at: number, changes: Change[] }>; // what the last update of an address found
  dialog: string;
  palette: { text: string, at: number };
  match: (Match & { signature: string, failure?: Failure }) | null;
  changes: { signature: string, changes?: Change[], before?: Record<string, Endpoint[]>, failure?: Failure } | null;
  difference: { signature: string, difference?: string, failure?: Failure } | null;
  usage: Usage | null; // what requests use, if the studio was told
  arrived: { feature: string, id: string, added: string[], removed: string[] } | null; // what the last switch did to the endpoint
  text: { signature: string, text?: string } | null;
  check: CheckRun | null;
  registered: string[]; // the addresses that this tab has registered
}
