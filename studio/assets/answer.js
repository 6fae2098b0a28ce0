// The answer: cards, the text as it was sent, headers, and what has changed since the previous one.

import { currentDraft, focusField, loadDifference, openEndpoint, openFeed, send, setOrigin } from "./actions.js";
import { address, badge, button, clock, entries, h, lazy, linkButton, plain, plainLines, value } from "./dom.js";
import { fieldOf } from "./feed.js";
import { diffLines, pretty, tree, valueOf } from "./json.js";
import { copyButton, failureBox } from "./parts.js";
import { show } from "./pictures.js";
import { go, own } from "./route.js";
import { destination, currentOf, sendOf, sendTo, signature, typedFor } from "./select.js";
import { after, change, state } from "./store.js";

const tabNames = /** @type {Record<string, string>} */ ({ cards: "Cards", text: "Text", headers: "Headers",
  diff: "Difference" });

/** answerPane is the pane of the answer. @param {Current} at */
export function answerPane(at) {
  const answers = state.answers[at.id] ?? [];
  const latest = answers.find((other) => other.id === state.past) ?? answers[0];
  // What failed may work now.
  const answer = latest?.failure && latest.sent.signature !== signature(at)
    && latest.id !== state.past ? undefined : latest;
  const pending = state.pending?.id === at.id;
  const before = answer && answers.slice(answers.indexOf(answer) + 1).find((other) => other.response);
  const tabs = answer?.response ? ["cards", "text", "headers", ...(before ? ["diff"] : [])] : [];
  const tab = tabs.includes(state.route.tab) ? state.route.tab : "cards";
  return h("section", { class: "pane answer", "aria-labelledby": "answer-title", key: "answer", id: "answer" },
    h("div", { class: "answer-head" },
      h("h2", { id: "answer-title", class: "unseen", tabindex: "-1" }, "Answer"),
      h("p", { class: "facts", id: "answer-facts", role: "status" },
        pending ? waiting(at) : facts(at, answer)),
      h("div", { class: "row tab-row" },
        tabs.length > 0 && h("div", { class: "tabs", role: "group", "aria-label": "Show the answer as" },
          tabs.map((name) => button({
            key: name, id: "tab-" + name, "aria-pressed": String(name === tab),
            onclick: () => go({ tab: name }, { replace: true }),
          }, tabNames[name]))),
        answer && past(answers, answer))),
    missing(at),
    answer ? body(at, answer, before, tab, pending)
      : h("div", { class: "blank", id: "answer-blank" }, pending ? "" : hint(at)));
}

/** waiting says for whom, how long already, and for how long at most. @param {Current} at */
const waiting = (at) => [h("span", { class: "waiting" }, "Waiting for ", value(destination(at))),
  h("span", { class: "quiet", id: "waited", "aria-hidden": "true" },
    `${Math.floor((performance.now() - (state.pending?.since ?? 0)) / 1000)} s of at most ${state.server.timeout} s`)];

/** hint says what Send would do. @param {Current} at @returns {Child} */
const hint = (at) => {
  const draft = currentDraft();
  if (draft?.owner) return ["Nothing to send: this feed belongs to ", value(draft.owner.winner.name), "."];
  if (sendOf(at.source) === "sample") {
    const blocking = draft?.problems.find((p) => !p.context);
    if (!blocking) return "Press Send to see a sample of this feed.";
    return blocking.field.startsWith("param:") ? "Fill in the missing values to see a sample of this feed."
      : "There is a sample of this feed once its errors are fixed.";
  }
  if (sendOf(at.source) === "origin" && !sendTo()) return "Enter the server to send requests to, above.";
  const lacking = draft?.problems.find((p) => p.context || p.field.startsWith("param:"));
  if (lacking) {
    return [h("span", {}, "This feed needs ", value(lacking.field.replace(/^\w+:/, "")), ", as an app would send it."),
      button({ id: "fill-in", onclick: () => focusField(lacking.field) }, "Fill it in")];
  }
  return [h("span", {}, "Press Send to call ", value(destination(at)), " the way an app does."), otherPort(at)];
};

/** otherPort offers to send requests to the port that the manifest came from. {{host}} carries no port, so the feeds
 * of a service on this machine are not where the manifest says.
 * @param {Current} at @returns {Child} */
function otherPort({ source: s, endpoint: e }) {
  const from = s.kind === "address" && URL.canParse(s.id) ? new URL(s.id) : null;
  if (!from?.port || e.foreign || sendOf(s) !== "published" || e.origin === from.origin) return null;
  const choose = () => {
    setOrigin(from.origin);
    go({ send: "origin" }, { replace: true });
  };
  return h("p", {}, `The manifest came from port ${from.port}, but feed URLs have no port. `,
    button({ class: "small", id: "other-port", onclick: choose }, `Send to ${from.origin}`));
}

/** useSample offers sample data where a service cannot be reached. @param {Current} at @returns {Child} */
const useSample = (at) => sendOf(at.source) !== "sample"
  && button({ id: "use-sample", onclick: () => go({ send: "sample" }, { replace: true }) }, "Use sample data");

/** missing offers to send a request without a required key. The key itself says that it is missing.
 * @param {Current} at @returns {Child} */
function missing(at) {
  const draft = currentDraft();
  if (!draft?.problems.length || draft.owner || sendOf(at.source) === "sample"
    || draft.problems.some((p) => !p.context)) return null;
  return h("p", { class: "hint without", key: "without" },
    linkButton(() => send({ without: true }), "Send without the required key"), " to see how the service responds.");
}

/** @param {Current} at @param {Answer | undefined} answer @returns {Child} */
function facts(at, answer) {
  if (!answer) return null;
  const old = answer.sent.signature !== signature(at) && badge("not the current values", "notable");
  const { response, cards, sent } = answer;
  if (!response) return [badge("failed", "bad"), old];
  const fine = response.status < 300 && response.declared && !response.incomplete;
  const kind = fine ? "good" : response.status >= 300 && response.status < 400 ? "notable" : "bad";
  const cut = answer.json?.cut ? "the first " : "";
  const over = !cut && cards && sent.limit !== null ? cards.total - sent.limit : -1;
  return [
    badge(response.status, kind), h("span", {}, response.status_text),
    response.incomplete && badge("incomplete", "bad"),
    response.truncated && badge("cut", "notable"), old,
    cards && h("span", {}, `${cut}${entries(cards.total)}${over === 0 ? ", as the limit says" : ""}`),
    over > 0 && h("span", { class: "bad" }, `more than the limit of ${sent.limit}`),
    response.status < 300 && !response.declared && h("span", { class: "bad" }, "not as declared"),
    h("span", {}, size(response.bytes), response.sample ? ", sample" : `, ${response.millis} ms`),
  ];
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** @param {Current} at @param {Answer} answer @param {Answer | undefined} before @param {string} tab
 * @param {boolean} pending @returns {Child} */
function body(at, answer, before, tab, pending) {
  const { response } = answer;
  const notes = response?.notes ?? [];
  return h("div", { class: "answer-body" + (pending ? " waits" : ""), key: "body" },
    answer.failure && failureBox(answer.failure, "send-failure", [otherPort(at), useSample(at)]),
    notes.length > 0 && h("ul", { class: "notes" }, notes.map((note) => h("li", {}, plain(note)))),
    response && h("div", { id: "tab-panel", key: "panel-" + tab }, panel(at, answer, before, tab)));
}

/** @param {Current} at @param {Answer} answer @param {Answer | undefined} before @param {string} tab
 * @returns {Child} */
function panel(at, answer, before, tab) {
  const { response, json } = answer;
  if (!response) return null;
  switch (tab) {
    case "headers":
      return [
        h("h3", {}, "Request"),
        h("p", {}, address(`${response.method} ${response.url}`)),
        response.to !== "" && !response.url.startsWith(response.to)
          && h("p", { class: "quiet" }, "Sent to ", value(response.to)),
        h("h3", {}, "Response headers"),
        h("dl", { class: "headers" }, response.headers.flatMap(([name, text]) =>
          [h("dt", {}, name), h("dd", {}, value(text))])),
      ];
    case "diff":
      return before?.response ? difference(before, answer) : null;
    case "text":
      return [response.body !== "" && h("p", { class: "row end" },
        copyButton("copy-body", () => response.body, "Copy the body")),
        lazy("div", { key: "text" }, [answer, JSON.stringify(state.folded)],
          () => [json ? tree(json.root) : bodyText(response.body)])];
    default:
      return cardsOf(at, answer);
  }
}

/** difference shows what has changed since the response before. @param {Answer} before @param {Answer} answer */
function difference(before, answer) {
  const result = loadDifference([before.id, answer.id], () => ({ before: textOf(before), now: textOf(answer) }));
  if (result?.failure) return failureBox(result.failure, "difference-failure");
  return result && lazy("div", { key: "diff" }, [result], () => [diffLines(result.difference ?? "")]);
}

/** bodyText is a body that is not JSON, with its lines. @param {string} text */
const bodyText = (text) => h("pre", { class: "code wrap body", tabindex: "0", "aria-label": "Body" },
  plainLines(text.slice(0, maxRaw)) + (text.length > maxRaw ? "\n…" : ""));

// More of a body that is not JSON is not shown at once.
const maxRaw = 100000;

/** @param {Answer} answer */
const textOf = (answer) => (answer.json ? pretty(answer.json.root) : answer.response?.body ?? "");

/** @param {Current} at @param {Answer} answer @returns {Child} */
function cardsOf(at, answer) {
  const { response, cards, json } = answer;
  if (!response) return null;
  if (!cards) {
    if (response.body === "") return !response.binary && h("p", { class: "blank-line" }, "The response has no body.");
    const detail = detailOf(answer);
    const kind = response.status >= 400 ? "bad" : "notable";
    if (detail) return h("div", { class: "banner " + kind }, h("pre", { class: "said" }, plainLines(detail)));
    const why = json ? "This JSON has no list of entries." : "This is not JSON, so there are no entries to show.";
    return [h("p", { class: "blank-line" }, why),
      json ? tree(json.root) : bodyText(response.body.slice(0, 20000))];
  }
  if (cards.total === 0) return h("p", { class: "blank" }, "The feed has no entries.");
  return [
    lazy("ul", { class: "cards" + (cards.cards.some((card) => card.picture) ? "" : " bare"), id: "cards",
      key: "cards" },
      [answer, state.picked], () => cards.cards.map((card, i) => h("li", { key: i }, cardOf(answer, card)))),
    cards.total > cards.cards.length
      && h("p", { class: "blank-line" }, `And ${cards.total - cards.cards.length} more: see Text.`),
    state.picked && state.picked.answer === answer && pickedPanel(at, state.picked.card),
  ];
}

// An error of this length is a sentence, and not a page.
const maxShortBody = 300;

/** detailOf returns what an error says, where it says it in a sentence. @param {Answer} answer */
function detailOf({ response, json }) {
  if (!response) return "";
  if (json) return response.status >= 400
    || json.root.items.some((item) => item.name === '"detail"') ? messageIn(valueOf(json.root)) : "";
  return response.status >= 400 && response.body.length < maxShortBody ? response.body.trim() : "";
}

// What services call the sentence in an error, the most telling first.
const messageNames = ["detail", "message", "error_description", "msg", "error", "errors", "title", "reason"];

/** messageIn returns the sentence in an error. @param {any} body @returns {string} */
function messageIn(body) {
  if (typeof body === "string") return body;
  if (!body || typeof body !== "object") return "";
  if (Array.isArray(body)) return messageIn(body[0]);
  for (const name of messageNames) {
    const text = Object.hasOwn(body, name) ? messageIn(body[name]) : "";
    if (text) return text;
  }
  return "";
}

// The style sheet paints the pictures of sample data in so many colours.
const tints = 8;

/** picture is that of a card. @param {Answer} answer @param {Card} card */
function pictureOf({ response }, { picture, free }) {
  const src = `/api/picture?feed=${encodeURIComponent(response?.to ?? "")}&url=${encodeURIComponent(picture)}`;
  const painted = response?.sample && picture ? ` tint-${Number(picture.match(/(\d+)\.png$/)?.[1]) % tints}` : "";
  return h("span", { class: "picture" + painted },
    picture === "" && h("span", { class: "no-picture" }, "No picture"),
    picture !== "" && painted === ""
      && [h("img", { key: src, "data-src": src, alt: "", created: show }),
        h("span", { key: "failed", class: "no-picture failed" })],
    free && h("span", { class: "on-picture" }, "Free"));
}

/** @param {Answer} answer @param {Card} card */
function cardOf(answer, card) {
  return button({
    class: "card", "aria-pressed": String(state.picked?.card === card),
    onclick: () => {
      change((state) => { state.picked = state.picked?.card === card ? null : { answer, card }; });
      after(() => document.querySelector(".card[aria-pressed='true']")?.scrollIntoView({ block: "nearest" }));
    },
  },
  pictureOf(answer, card),
  h("span", { class: "card-title" }, value(card.title)),
  h("span", { class: "card-facts" }, card.facts.map((fact, i) => [i > 0 && ", ", value(fact)])));
}

/** pickedPanel offers what an entry leads to. @param {Current} at @param {Card} card */
function pickedPanel(at, card) {
  const nested = at.version.endpoints.filter((e) => e.placeholders.length > 0).map((e) => {
    /** @type {Record<string, string>} */
    const params = {};
    for (const name of e.placeholders) own(params, name, fieldOf(card.entry, name));
    return { e, params };
  }).filter(({ params }) => Object.values(params).some(Boolean));
  return h("div", { class: "picked", id: "picked", key: "picked", role: "region", "aria-label": plain(card.title) },
    h("p", { class: "row between" }, h("strong", {}, value(card.title)),
      button({ class: "small", onclick: unpick }, "Close")),
    card.links.map((link) => h("p", {},
      linkButton(() => openFeed(link), "Follow the link"), " ", address(link, "quiet"))),
    nested.map(({ e, params }) => h("p", {}, linkButton(() => {
      const { modifiers } = typedFor(currentOf(at.source, at.version, e));
      openEndpoint({ source: at.source.id, version: at.version.name, key: e.key }, "", { params, modifiers });
    }, "Open ", value(e.name)), " with ",
    Object.entries(params).map(([name, text], i) => [i > 0 && ", ", value(`${name} = ${text || "?"}`)]))),
    card.links.length + nested.length === 0
      && h("p", { class: "quiet" }, "This entry does not lead to another endpoint."),
    h("details", {}, h("summary", {}, "The entry as JSON"), tree(card.node, "$entry")));
}

/** unpick closes the panel, and goes back to the entry that it was about. */
function unpick() {
  /** @type {HTMLElement | null} */ (document.querySelector(".card[aria-pressed='true']"))?.focus();
  change((state) => { state.picked = null; });
}

/** past brings back the responses before. @param {Answer[]} answers @param {Answer} shown */
const past = (answers, shown) => answers.length > 1 && h("select", {
  id: "history", class: "quietly", "aria-label": "History", value: shown === answers[0] ? "" : String(shown.id),
  key: "history",
  onchange: (event) => change((state) => {
    state.past = event.target.value === String(answers[0].id) ? 0 : Number(event.target.value);
    state.picked = null;
  }),
},
h("option", { key: "", value: "", hidden: true }, "History"),
answers.map((answer) => h("option", { key: answer.id, value: String(answer.id) }, `${clock(answer.at)} `,
  plain(answer.label))));
