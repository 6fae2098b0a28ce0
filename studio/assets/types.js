// The types of the page, for the TypeScript compiler. There is no code here.

/**
 * @typedef {{ key: string, label: string, placeholder: string, control: "text" | "number" | "toggle" | "select",
 *   options: { value: string, label: string }[], default: string | null }} Param
 * @typedef {{ id: string, name: string, params: Param[], deprecated: string }} Modifier
 * @typedef {{ key: string, type: string, required: boolean, sent_as: string, sent: boolean, feature: string, about: string }} ContextField
 * @typedef {{ key: string, url: string, origin: string, name: string, method: string, mime_type: string, foreign: boolean,
 *   placeholders: string[], context: ContextField[], modifiers: Modifier[], deprecated: string }} Endpoint
 * @typedef {{ name: string, route: string, endpoints: Endpoint[] }} Version
 * @typedef {{ message: string, edits: unknown[] }} Fix
 * @typedef {{ rule: string, severity: string, message: string, file: string, line: number, column: number, hint: string,
 *   text: string, at: number, width: number, key: string, fix?: Fix | null }} Finding
 * @typedef {{ rule: string, level: string, version: string, endpoint: string, message: string, key: string }} Change
 * @typedef {{ detail: string, hint?: string, findings?: Finding[], problems?: Problem[], status?: number }} Failure
 * @typedef {{ id: string, kind: "file" | "example" | "address", rev: number, name: string, path: string, title: string, host: string,
 *   host_open: boolean, read: string, judged: boolean, features: { name: string, enabled: boolean }[], versions: Version[],
 *   findings: Finding[], notes: string[], failure: Failure | null, stale: boolean, changes: Change[], since: string }} Source
 * @typedef {{ source: string, version: string, key: string, name: string, url: string }} Place
 * @typedef {Place & { lost_keys: string[], reason: "length" | "literals" | "order", inside: boolean }} Loser
 * @typedef {{ source: string, version: string, key: string, under: Loser[], twins: string[], differ: boolean }} Nesting
 * @typedef {{ feed: string, found: boolean, problem: string, winner: Place, context_obj: { key: string }[], inside_segment: boolean,
 *   losers: Loser[], twins: Place[] }} Match
 * @typedef {{ field: string, message: string, context: boolean }} Problem
 * @typedef {{ method: string, url: string, ctx: string, decoded: string, body: string, body_type: string,
 *   snippets: { name: string, text: string }[], problems: Problem[],
 *   owner: (Place & { context_obj: { key: string }[], why: string }) | null,
 *   losers: Loser[], inside_segment: boolean, signature: string }} Draft
 * @typedef {{ status: number, status_text: string, url: string, method: string, to: string, content_type: string,
 *   declared: boolean, headers: [string, string][], body: string, json: boolean, binary: boolean, bytes: number, truncated: boolean,
 *   incomplete: boolean, millis: number, sample: boolean, follow: string, pictures: string, notes: string[] }} Response
 * @typedef {{ at: Current, signature: string, limit: number | null, changed: string[] }} Sent what was sent, as it was then
 * @typedef {{ id: number, at: number, sent: Sent, response: Response | null, failure: Failure | null, json: Json | null,
 *   cards: Feed | null, label: string }} Answer
 * @typedef {{ kind: "object" | "array" | "string" | "number" | "word", text: string, items: { name: string, node: Node }[],
 *   closed: boolean }} Node a JSON value as it was sent: name is the literal of a key, text that of a value
 * @typedef {{ root: Node, cut: boolean }} Json
 * @typedef {{ title: string, picture: string, facts: string[], free: boolean, links: string[], entry: any, node: Node }} Card
 * @typedef {{ title: string, cards: Card[], total: number, array: boolean }} Feed
 * @typedef {{ text: string, json: boolean }} ContextValue
 * @typedef {{ id: string, name: string, values: Record<string, Record<string, ContextValue>> }} ContextSet by destination, then by key
 * @typedef {{ params: Record<string, string>, modifiers: Record<string, string> }} Typed
 * @typedef {{ source: Source, version: Version, endpoint: Endpoint, id: string }} Current
 * @typedef {{ check: string, status: string, endpoint: string, message: string, hint: string }} CheckResult
 * @typedef {{ source: string, version: string, results: CheckResult[], done: number, total: number, running: boolean, ok: boolean,
 *   failure: Failure | null, controller: AbortController | null }} CheckRun
 */

/**
 * @typedef {object} Route what the address says
 * @property {string} view
 * @property {string} source
 * @property {string} version
 * @property {string} endpoint the key of it
 * @property {string} pane whether a narrow window shows the list or the endpoint
 * @property {string} tab of the answer
 * @property {string} filter
 * @property {string} show which endpoints the list has
 * @property {string} send empty means what fits the source
 * @property {string} base of the changes
 * @property {string} of
 * @property {string} host empty means that of the studio
 * @property {Record<string, string[]>} features by source, where they are not those of the studio
 * @property {string[]} feeds on the map
 */

/**
 * @typedef {object} State
 * @property {"connecting" | "live" | "lost"} connection
 * @property {boolean} loaded
 * @property {{ instance: string, build: string, rev: number, deployment: string, host: string, sendTo: string, git: boolean,
 *   fixes: boolean, order: string[], sources: Map<string, Source>, overlap: Map<string, Nesting> }} server
 * @property {Route} route
 * @property {Record<string, Typed>} typed by endpoint
 * @property {Record<string, boolean>} bad the fields with something that is no number, by name
 * @property {ContextSet[]} sets
 * @property {string} set the id of the one that is used
 * @property {string | null} sendTo the other server, if the tab has chosen one
 * @property {Record<string, boolean>} shown the context keys whose value is not masked
 * @property {boolean} auto send when a control has changed
 * @property {Record<string, boolean>} sentTo the destinations that the user has sent to
 * @property {Draft | null} draft
 * @property {boolean} attention whether fields that lack something are marked
 * @property {{ controller: AbortController, id: string, signature: string } | null} pending
 * @property {Record<string, Answer[]>} answers by endpoint, the latest first
 * @property {number} past the id of the response before that is looked at, or 0
 * @property {{ answer: Answer, card: Card } | null} picked
 * @property {Record<string, boolean>} folded JSON by its path
 * @property {Record<string, boolean>} open what is unfolded elsewhere
 * @property {Record<string, boolean>} busy
 * @property {Record<string, Failure | null>} failures by the place where they are shown
 * @property {Record<string, { at: number, changes: Change[] }>} updated what the last update of an address found
 * @property {string} dialog
 * @property {{ text: string, at: number, matches: Match[] }} palette
 * @property {{ signature: string, matches?: Match[] } | null} matches
 * @property {{ signature: string, changes?: Change[], failure?: Failure } | null} changes
 * @property {{ signature: string, text?: string } | null} text
 * @property {CheckRun | null} check
 * @property {{ follow: number | null, schema: { name: string, text: string } | null }} checking options; null means the default
 * @property {string[]} registered the addresses that this tab has registered
 */

export {};
