// The response: cards, JSON, headers, and what has changed since the previous one.

import { cancel, draftIsCurrent, open, sampleValue, send, typeContext } from "./actions.js";
import { address, apple, badge, byId, clock, h, plain, value } from "./dom.js";
import { fieldOf } from "./feed.js";
import { diffLines, tree } from "./json.js";
import { failureBox } from "./parts.js";
import { back, go, own } from "./route.js";
import { destination, sendOf, signature } from "./select.js";
import { call } from "./server.js";
import { change, state } from "./store.js";
import { deploy } from "./sync.js";

/** @typedef {import("./select.js").Current} Current */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Card} Card */
/** @typedef {import("./dom.js").Child} Child */

const tabNames = /** @type {Record<string, string>} */ ({ preview: "Preview", json: "Body", headers: "Headers", diff: "Difference" });

/** answerPane is the third pane. @param {Current} at */
export function answerPane(at) {
  const answers = state.answers[at.id] ?? [];
  const latest = answers.find((other) => other.id === state.past) ?? answers[0];
  const answer = latest?.failure && latest.signature !== signature(at) && latest.id !== state.past ? undefined : latest; // what failed may work now
  const pending = state.pending?.id === at.id;
  return h("section", { class: "pane answer", "aria-labelledby": "answer-title", key: "answer", id: "answer" },
    h("div", { class: "answer-head" },
      h("button", { type: "button", class: "back", onclick: () => back("endpoint") }, "‹ ", value(at.endpoint.name)),
      h("h2", { id: "answer-title", class: "unseen", tabindex: "-1" }, "Response"),
      h("p", { class: "facts", id: "answer-facts", role: "status" }, pending ? h("span", { class: "waiting" }, "Waiting for ", value(destination(at))) : facts(at, answer)),
      h("div", { class: "row buttons" },
        at.endpoint.method === "get" && h("label", { class: "check" },
          h("input", { type: "checkbox", id: "auto", checked: state.auto, onchange: (/** @type {any} */ event) => change(() => { state.auto = event.target.checked; }) }), "Send on change"),
        pending && h("button", { type: "button", id: "cancel", onclick: cancel }, "Cancel"),
        h("button", {
          type: "button", id: "send", class: "primary", title: apple ? "⌘ Enter" : "Ctrl+Enter", "aria-keyshortcuts": apple ? "Meta+Enter" : "Control+Enter", "aria-disabled": pending || blocked() || state.connection === "lost" ? "true" : undefined,
          onclick: (/** @type {MouseEvent} */ event) => { if (event.detail < 2) send(); },
        }, "Send"))),
    missing(at),
    answer ? body(at, answers, answer, pending) : h("p", { class: "blank", id: "answer-blank" }, pending ? "" : hint(at)));
}

const blocked = () => draftIsCurrent() && Boolean(state.draft?.owner);

/** hint says what Send would do. @param {Current} at @returns {Child} */
const hint = (at) => {
  if (blocked()) return ["Nothing to send: this feed belongs to ", value(state.draft?.owner?.name ?? ""), "."];
  if (sendOf(at.source) === "sample") return draftIsCurrent() && state.draft?.problems.some((p) => !p.context) ? "Fill in the missing values to see a sample of this feed." : "Press Send to see a sample of this feed.";
  if (sendOf(at.source) === "origin" && !state.server.sendTo) return "Enter the server to send requests to, in the bar above.";
  return [h("span", {}, "Press Send to call ", value(destination(at)), " the way an app does."), otherPort(at)];
};

/**
 * otherPort offers to send requests to the port that the manifest came from. {{host}} carries no port, so the feeds of a service on
 * this machine are not where the manifest says.
 * @param {Current} at
 * @returns {Child}
 */
function otherPort(at) {
  const { source: s, endpoint: e } = at;
  if (s.kind !== "address" || e.foreign || sendOf(s) !== "published" || !URL.canParse(s.name) || !URL.canParse(e.origin)) return null;
  const from = new URL(s.name);
  if (from.port === "" || from.origin === new URL(e.origin).origin) return null;
  return h("span", { class: "other-port" }, `The manifest came from port ${from.port}, but feed URLs have no port. `,
    h("button", { type: "button", class: "small", id: "other-port", onclick: async () => { if (await deploy({ send_to: from.origin })) go({ send: "origin" }, { replace: true }); } }, `Send to ${from.origin}`));
}

/** missing says which required context keys the request lacks, and lets it be sent all the same. @param {Current} at @returns {Child} */
function missing(at) {
  if (!draftIsCurrent() || !state.draft || state.draft.owner) return null;
  const problems = state.draft.problems;
  if (problems.length === 0 || problems.some((p) => !p.context) || sendOf(at.source) === "sample") return null;
  return h("p", { class: "hint without", key: "without" }, problems.length === 1 ? "A required context key is missing. " : `${problems.length} required context keys are missing. `,
    h("button", { type: "button", class: "link", onclick: () => send({ without: true }) }, "Send anyway"), " to see how the service responds.");
}

/** @param {Current} at @param {Answer | undefined} answer @returns {Child} */
function facts(at, answer) {
  if (!answer) return null;
  const old = answer.signature !== signature(at) && badge("not the current values", "notable");
  const { response } = answer;
  if (!response) return [badge("failed", "bad"), old];
  const good = response.status < 300 ? "good" : response.status < 400 ? "notable" : "bad";
  return [
    badge(`${response.status} ${response.status_text}`, response.incomplete ? "bad" : good), response.incomplete && badge("incomplete", "bad"), old,
    h("span", {}, response.status < 300 && (response.declared ? "type as declared ✓ · " : "not the declared type ✗ · "), answer.cards && `${entries(answer.cards.total)} · `,
      size(response.bytes), response.sample ? " · sample" : ` · ${response.millis} ms`),
  ];
}

const entries = (/** @type {number} */ n) => (n === 1 ? "1 entry" : `${n} entries`);

/** @param {number} bytes */
const size = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`);

/** @param {Current} at @param {Answer[]} answers @param {Answer} answer @param {boolean} pending @returns {Child} */
function body(at, answers, answer, pending) {
  const before = answers.slice(answers.indexOf(answer) + 1).find((other) => other.response);
  const tabs = answer.response ? ["preview", "json", "headers", ...(before ? ["diff"] : [])] : [];
  const tab = tabs.includes(state.route.tab) ? state.route.tab : "preview";
  return h("div", { class: "answer-body" + (pending ? " waits" : ""), key: "body" },
    answer.failure && [failureBox(answer.failure, "send-failure"), otherPort(at)],
    (answer.response?.notes.length ?? 0) > 0 && h("ul", { class: "notes" }, answer.response?.notes.map((note) => h("li", {}, plain(note)))),
    answer.response && checks(answer, false),
    tabs.length > 0 && h("div", { class: "tabs", role: "tablist", "aria-label": "Show the response as", onkeydown: moveTab(tabs, tab) }, tabs.map((name) => h("button", {
      key: name, type: "button", role: "tab", id: "tab-" + name, "aria-selected": String(name === tab), "aria-controls": "tab-panel", tabindex: name === tab ? "0" : "-1",
      onclick: () => go({ tab: name }, { replace: true }),
    }, name === "diff" && before ? difference(answer, before) : tabNames[name]))),
    answer.response && h("div", { role: "tabpanel", id: "tab-panel", "aria-labelledby": "tab-" + tab, key: "panel-" + tab, tabindex: "0" }, panel(at, answer, before, tab)),
    past(answers, answer),
    answer.response && checks(answer, true));
}

/** moveTab is what arrow keys do in the tabs. @param {string[]} tabs @param {string} tab */
const moveTab = (tabs, tab) => (/** @type {KeyboardEvent} */ event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
  go({ tab: next }, { replace: true });
  setTimeout(() => byId("tab-" + next)?.focus(), 0);
};

/** @param {Answer} answer @param {Answer} before */
function difference(answer, before) {
  if (!answer.cards || !before.cards) return tabNames.diff;
  const n = answer.cards.total - before.cards.total;
  return n === 0 ? tabNames.diff : `${tabNames.diff}: ${entries(Math.abs(n))} ${n > 0 ? "more" : "fewer"}`;
}

/** @param {Current} at @param {Answer} answer @param {Answer | undefined} before @param {string} tab @returns {Child} */
function panel(at, answer, before, tab) {
  const response = answer.response;
  if (!response) return null;
  switch (tab) {
    case "headers":
      return [
        h("h3", {}, "Request"),
        h("p", {}, address(`${response.method} ${response.url}`)),
        response.to !== "" && !response.url.startsWith(response.to) && h("p", { class: "quiet" }, "Sent to ", value(response.to)),
        h("h3", {}, "Response headers"),
        h("dl", { class: "headers" }, response.headers.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, value(text))])),
      ];
    case "diff":
      return before?.response ? diffLines(textOf(before), textOf(answer)) : null;
    case "json":
      return answer.parsed !== undefined ? tree(answer.parsed) : h("pre", { class: "code wrap body", tabindex: "0", "aria-label": "Body" }, rawLines(response.body));
    default:
      return preview(at, answer);
  }
}

/** @param {Answer} answer */
const textOf = (answer) => (answer.parsed !== undefined ? JSON.stringify(answer.parsed, null, 2) : answer.response?.body ?? "");

// More of a body that is not JSON is not shown at once.
const maxRaw = 100000;

/** @param {string} text */
const rawLines = (text) => text.slice(0, maxRaw).split("\n").map(plain).join("\n") + (text.length > maxRaw ? "\n…" : "");

/** @param {Current} at @param {Answer} answer @returns {Child} */
function preview(at, answer) {
  const { response, cards } = answer;
  if (!response) return null;
  if (!cards) {
    if (response.body === "" && !response.binary) return h("p", { class: "blank-line" }, "The response has no body.");
    const short = answer.parsed === undefined && response.status >= 400 && response.body.length < maxShortBody ? response.body.trim() : "";
    const detail = answer.parsed && typeof answer.parsed === "object" && typeof answer.parsed.detail === "string" ? answer.parsed.detail : short;
    return [detail && h("div", { class: "banner " + (response.status >= 400 ? "bad" : "notable") }, h("p", {}, plain(detail)), fillSamples(at, response)),
      !detail && h("p", { class: "blank-line" }, answer.parsed === undefined ? "This is not JSON, so there are no entries to show." : "This JSON has no list of entries."),
      !detail && (answer.parsed !== undefined ? tree(answer.parsed) : h("pre", { class: "code wrap body", tabindex: "0", "aria-label": "Body" }, rawLines(response.body.slice(0, 20000))))];
  }
  if (cards.total === 0) return h("p", { class: "blank" }, "The feed has no entries.");
  return [
    h("ul", { class: "cards" + (cards.cards.some((card) => card.picture) ? "" : " bare"), id: "cards" }, cards.cards.map((card, i) => h("li", { key: i }, cardOf(answer, card)))),
    cards.total > cards.cards.length && h("p", { class: "blank-line" }, `And ${cards.total - cards.cards.length} more: see Body.`),
    state.picked && state.picked.answer === answer && pickedPanel(at, state.picked.card),
  ];
}

// An error of this length is a sentence, and not a page.
const maxShortBody = 300;

/** @param {Answer} answer @param {Card} card */
const cardOf = (answer, card) => h("button", {
  type: "button", class: "card", "aria-pressed": String(state.picked?.card === card),
  onclick: () => {
    change(() => { state.picked = state.picked?.card === card ? null : { answer, card }; });
    setTimeout(() => document.querySelector(".card[aria-pressed='true']")?.scrollIntoView({ block: "nearest" }), 0);
  },
},
h("span", { class: "picture" }, card.picture
  ? [h("img", { src: `/api/picture?answer=${answer.response?.id}&url=${encodeURIComponent(card.picture)}`, alt: "", loading: "lazy", onerror: hide, onload: unhide }),
    h("span", { class: "no-picture failed" }, "Picture not loaded")]
  : h("span", { class: "no-picture" }, "No picture"), card.free && h("span", { class: "on-picture" }, "Free")),
h("span", { class: "card-title" }, value(card.title)),
h("span", { class: "card-facts" }, card.facts.map((fact, i) => [i > 0 && " · ", value(fact)])));

/** hide shows that a picture could not be loaded. @param {any} event */
const hide = (event) => event.target.classList.add("broken");

/** @param {any} event */
const unhide = (event) => event.target.classList.remove("broken");

/** pickedPanel offers what an entry leads to. @param {Current} at @param {Card} card */
function pickedPanel(at, card) {
  const nested = at.version.endpoints.filter((e) => e.placeholders.length > 0).map((e) => {
    /** @type {Record<string, string>} */
    const params = {};
    for (const name of e.placeholders) own(params, name, fieldOf(card.entry, name));
    return { e, params, whole: e.placeholders.every((name) => params[name] !== "") };
  }).filter(({ params }) => Object.values(params).some(Boolean));
  return h("div", { class: "picked", id: "picked", key: "picked", role: "region", "aria-label": plain(card.title) },
    h("p", { class: "row between" }, h("strong", {}, value(card.title)),
      h("button", { type: "button", class: "small", onclick: unpick }, "Close")),
    card.links.map((link) => h("p", {}, h("button", { type: "button", class: "link", onclick: () => follow(link) }, "Follow the link"), " ", address(link, "quiet"))),
    nested.map(({ e, params }) => h("p", {}, h("button", {
      type: "button", class: "link",
      onclick: () => {
        const id = JSON.stringify([at.source.id, at.version.name, e.key]);
        state.typed[id] = { params, modifiers: state.typed[id]?.modifiers ?? {} };
        open({ source: at.source.id, version: at.version.name, key: e.key, name: e.name, url: e.url });
      },
    }, "Open ", value(e.name)), " with ", Object.entries(params).map(([name, text], i) => [i > 0 && ", ", value(`${name} = ${text || "?"}`)]))),
    card.links.length + nested.length === 0 && h("p", { class: "quiet" }, "This entry does not lead to another endpoint."),
    h("details", {}, h("summary", {}, "The entry as JSON"), tree(card.entry, "$entry")));
}

/** unpick closes the panel, and goes back to the entry that it was about. */
function unpick() {
  /** @type {HTMLElement | null} */ (document.querySelector(".card[aria-pressed='true']"))?.focus();
  change(() => { state.picked = null; });
}

/** follow opens the endpoint that a link of an entry belongs to. @param {string} link */
async function follow(link) {
  const { matches: [match] } = await call("/api/match", { source: state.route.source, feeds: [link] });
  if (match.found) open(match.winner, link);
  else go({ view: "map", feeds: [link] });
}

// So many of the responses before are offered: one line of them.
const maxPast = 5;

/** past lists the responses before, each of which can be looked at again. @param {Answer[]} answers @param {Answer} shown */
const past = (answers, shown) => answers.length > 1 && h("div", { class: "history row", key: "history", role: "group", "aria-label": "History" },
  h("span", { class: "quiet", "aria-hidden": "true" }, "History"),
  answers.slice(0, maxPast).map((answer, i) => h("button", {
    type: "button", class: "small", key: answer.id, "aria-pressed": String(answer === shown), title: plain(answer.response?.url ?? ""),
    onclick: () => change(() => { state.past = i === 0 ? 0 : answer.id; state.picked = null; }),
  }, `${clock(answer.at)} `, value(answer.label))));

/** fillSamples offers a value for the required context keys that a sample lacks. @param {Current} at @param {import("./types.js").Response} response */
function fillSamples(at, response) {
  const lacking = draftIsCurrent() ? state.draft?.problems.filter((p) => p.context) ?? [] : [];
  if (!response.sample || lacking.length === 0) return null;
  return h("button", {
    type: "button", id: "fill-samples",
    onclick: () => lacking.forEach((p) => typeContext(p.field.replace(/^context:/, ""), { text: sampleValue }, destination(at))),
  }, lacking.length === 1 ? "Fill in a sample value" : "Fill in sample values");
}

/**
 * checks says what can be told about a response: what is wrong above it, where nobody misses it, and what is fine below.
 * @param {Answer} answer
 * @param {boolean} fine
 */
function checks(answer, fine) {
  const { response, cards } = answer;
  if (!response || response.status >= 300) return null;
  /** @type {[boolean, Child][]} */
  const all = [];
  if (cards) {
    if (cards.total > 0) all.push([true, `The feed has ${answer.cards?.title ? "a title and " : ""}${entries(cards.total)}.`]);
    if (answer.limit !== null) all.push([cards.total <= answer.limit, `The limit is ${answer.limit}, and the feed has ${entries(cards.total)}.`]);
    const bare = cards.cards.filter((card) => card.picture === "");
    if (bare.length && bare.length < cards.cards.length) all.push([false, [`${entries(bare.length)} without a picture: `, value(bare[0].title), bare.length > 1 && " …"]]);
  }
  const shown = all.filter(([good]) => good === fine);
  if (shown.length === 0) return null;
  return h("ul", { class: "checks", key: fine ? "fine" : "wrong" }, shown.map(([good, text]) => h("li", { class: good ? "good" : "bad" }, good ? "✓ " : "✗ ", text)));
}
