// The changes of a source against a base that can be chosen: the editor's form before and after, and who notices.

import { accept, loadChanges, openEndpoint } from "./actions.js";
import { address, badge, button, byId, choice, code, count, h, linkButton, plain, value } from "./dom.js";
import { chip, failureBox, viewHead } from "./parts.js";
import { go } from "./route.js";
import { keyOf, version } from "./select.js";
import { after, state } from "./store.js";
import { concerned, usageSpan } from "./usage.js";

const levels = /** @type {Record<string, string>} */ ({ breaking: "bad", notable: "notable", compatible: "good" });
const maxChanges = 300;
const maxListed = 20;

/** @param {Source} s */
export function changesView(s) {
  const { base, of } = state.route;
  const v = version(s);
  const others = s.versions.filter((other) => other !== v);
  const result = loadChanges(s.id);
  const stale = s.stale && base !== "version";
  const waiting = !result && !(base === "git" && !of);
  const bases = [
    ["registered", s.kind === "address" ? "its state when it was registered" : "its state when the studio started"],
    ["previous", s.kind === "address" ? "its state at the previous fetch" : "its state before the last save"],
    ...others.map((other) => ["version:" + other.name, `version ${other.name}`]),
    ...(s.path ? [["git", "a git revision"]] : []),
  ];
  return h("div", { class: "view changes-view", key: "changes" },
    viewHead("Changes",
      base === "version" && v ? `What changes for those who move from ${plain(of)} to ${plain(v.name)}.`
        : "What changes for studios, editors and apps that already use this manifest.",
      h("div", { class: "row" },
        h("label", { for: "base" }, "Compared with"),
        choice({ id: "base", value: base === "version" ? "version:" + of : base }, choose, bases),
        base === "git" && h("form", { class: "row", onsubmit: setRevision },
          h("label", { for: "revision", class: "unseen" }, "Git revision"),
          h("input", {
            id: "revision", type: "text", placeholder: "HEAD~1", spellcheck: "false", size: 14, onchange: setRevision,
            created: (node) => { node.value = of; },
          })),
        base === "registered" && s.since && h("span", { class: "quiet" }, new Date(s.since).toLocaleString()),
        base === "registered" && s.changes.length > 0
          && button({ id: "accept", onclick: () => accept(s.id) }, "Accept"),
        usageSpan() && h("span", { class: "quiet" }, usageSpan()))),
    state.failures.changes && failureBox(state.failures.changes, "changes-failure"),
    result?.failure && failureBox(result.failure, "changes-failure"),
    waiting && h("p", { class: "blank-line" }, "Comparing…"),
    base === "git" && !of && h("p", { class: "blank-line" }, "Enter a revision, such as main or HEAD~1."),
    stale && h("p", { class: "problem", id: "changes-stale" }, s.since
      ? "The file has errors. What is compared is its last version without errors."
      : "Nothing is compared while the file has errors."),
    result?.changes && (s.since || !stale) && show(result.changes, result.before ?? {}, s));
}

/** @param {string} chosen */
function choose(chosen) {
  const [base, of = ""] = chosen.split(":");
  go({ base, of }, { replace: true });
  if (base === "git") after(() => byId("revision")?.focus());
}

function setRevision() {
  go({ of: /** @type {HTMLInputElement} */ (byId("revision")).value.trim() }, { replace: true });
}

/** The levels in order. */
const order = Object.keys(levels);
const byLevel = (/** @type {Change} */ a, /** @type {Change} */ b) => order.indexOf(a.level) - order.indexOf(b.level);

/** @param {Change[]} changes @param {Record<string, Endpoint[]>} before @param {Source} s */
function show(changes, before, s) {
  if (changes.length === 0) return h("p", { class: "blank", id: "changes-none" }, "Nothing has changed.");
  const totals = Map.groupBy(changes.toSorted(byLevel), (c) => c.level);
  // One card for each endpoint; endpoints that have changed in the same way share it.
  const byEndpoint = Map.groupBy(changes, (c) => c.version + "\n" + c.endpoint).values();
  const cards = [...Map.groupBy(byEndpoint, (some) => JSON.stringify(some.map((c) => [c.rule, c.message]))).values()];
  return [
    h("p", { class: "row", key: "totals" },
      [...totals].map(([level, some]) => badge(`${some.length} ${level}`, levels[level]))),
    h("ul", { class: "change-cards", id: "changes-list", key: "list" },
      cards.slice(0, maxChanges).map((group, i) => h("li", { key: i }, card(s, before, group)))),
    cards.length > maxChanges && h("p", { class: "blank-line", key: "more" },
      `And ${count(cards.length - maxChanges, "more endpoint")}.`),
  ];
}

/** card shows what has become of an endpoint, or of several.
 * @param {Source} s @param {Record<string, Endpoint[]>} before @param {Change[][]} group */
function card(s, before, group) {
  const [changes] = group;
  const [first] = changes;
  const isIt = (/** @type {Endpoint} */ e) => e.url === first.endpoint;
  const old = before[first.version]?.find(isIt);
  const now = s.versions.find((v) => v.name === first.version)?.endpoints.find(isIt);
  const name = now?.name ?? old?.name;
  const all = group.flat();
  const rows = changes.some((c) => c.level !== "compatible")
    ? compared(old, now, (fits) => concerned(all.filter(fits)), changes.some(takesFeeds)) : [];
  return [
    h("div", { class: "change-head" },
      h("p", { class: "row" }, group.length > 1 ? h("strong", {}, count(group.length, "endpoint")) : name
        && value(name, "strong"),
        group.slice(0, maxListed).map(([one]) => one.endpoint && endpointLink(s, one)),
        group.length > maxListed && h("span", { class: "quiet" }, `and ${group.length - maxListed} more`)),
      changes.map((c, i) => h("p", { class: "change-line", key: i }, badge(c.level, levels[c.level]),
        h("span", {}, plain(c.message)), h("span", { class: "rule" }, c.rule)))),
    rows.length > 0 && h("div", { class: "before-after" },
      h("h3", { class: "on-before" }, "Before"), h("h3", { class: "on-after" }, "After"),
      h("h3", { class: "on-who" }, "Who notices"),
      rows.map((row, i) => [
        h("div", { class: "on-before", key: `b${i}` }, row.before),
        h("div", { class: "arrow", "aria-hidden": "true", key: `a${i}` }, "→"),
        h("div", { class: "on-after", key: `n${i}` }, row.after),
        h("div", { class: "on-who", key: `w${i}` }, row.who),
      ])),
  ];
}

/** endpointLink is the endpoint that has changed, which can be opened if it is still there.
 * @param {Source} s @param {Change} c */
function endpointLink(s, { version: name, endpoint: url }) {
  const key = keyOf(s, name, url);
  if (key === undefined) return address(url, "quiet");
  return linkButton(() => openEndpoint({ source: s.id, version: name, key }), address(url));
}

// A row is one thing that editors or apps see, before and after.
/** @typedef {{ before: Child, after: Child, who: Child }} Row */
// Counted says how many requests the changes of a card concern that fit.
/** @typedef {(fits: (c: Change) => boolean) => Child} Counted */

/** takesFeeds tells whether an endpoint gets feeds of others. @param {Change} c */
const takesFeeds = (c) => c.rule === "context-shadowed" || c.rule === "feeds-taken-over";

/** compared returns what differs in an endpoint.
 * @param {Endpoint | undefined} old @param {Endpoint | undefined} now @param {Counted} counted
 * @param {boolean} takes whether it gets feeds of others
 * @returns {Row[]} */
function compared(old, now, counted, takes) {
  if (!old || !now) return whole(old, now, counted, takes);
  const rows = [];
  const facts = /** @type {const} */ ([["name", "name-changed", "Editors see another name."],
    ["method", "method-changed", "Apps send another kind of request."],
    ["mime_type", "mime-type-changed", "Apps expect another kind of answer."]]);
  for (const [name, rule, who] of facts) {
    if (old[name] === now[name]) continue;
    rows.push({ before: [name.replace("_", " "), " ", code(old[name])], after: code(now[name]),
      who: [h("p", {}, who), counted((c) => c.rule === rule)] });
  }
  for (const { was, is } of pairs(old.modifiers, now.modifiers, (m) => m.id)) {
    const ofModifier = (/** @type {Change} */ c) => c.subject?.[0] === "modifier" && c.subject[1] === was?.id;
    for (const param of pairs(was?.params ?? [], is?.params ?? [], (p) => p.key)) {
      if (JSON.stringify(param.was) === JSON.stringify(param.is)) continue;
      rows.push(controlRow(param.was, param.is, (fits) => counted((c) => ofModifier(c) && fits(c))));
    }
  }
  if (JSON.stringify(old.context) !== JSON.stringify(now.context)) {
    rows.push(contextRow(old.context, now.context, counted));
  }
  return rows;
}

/** pairs puts together what is the same before and after.
 * @template T @param {T[]} old @param {T[]} now @param {(item: T) => string} key */
function pairs(old, now, key) {
  const names = [...new Set([...old, ...now].map(key))];
  return names.map((name) => ({ was: old.find((item) => key(item) === name),
    is: now.find((item) => key(item) === name) }));
}

/** whole is an endpoint that is new, or gone.
 * @param {Endpoint | undefined} old @param {Endpoint | undefined} now @param {Counted} counted
 * @param {boolean} takes whether it gets feeds of others
 * @returns {Row[]} */
function whole(old, now, counted, takes) {
  const e = old ?? now;
  if (!e) return [];
  const form = h("div", { class: "form-of" + (old ? " gone" : " new") }, h("strong", {}, value(e.name)),
    e.modifiers.flatMap((m) => m.params).map((p) => control(p)),
      h("p", { class: "gets" }, e.context.map((item) => chip(item.key))));
  const none = h("p", { class: "quiet" }, old ? "It is gone." : "It was not there.");
  return [{
    before: old ? form : none, after: old ? none : form,
    who: old ? [h("p", {}, "Feeds of ", value(e.name, "strong"), " are called without its keys and settings."),
      counted(() => true)] : [h("p", {}, "Editors can choose it from now on."),
      takes && h("p", {}, "Feeds of others that begin with its URL get its keys and settings instead of theirs.")],
  }];
}

/** controlRow is a control that has changed.
 * @param {Param | undefined} was @param {Param | undefined} is @param {Counted} counted
 * @returns {Row} */
const controlRow = (was, is, counted) => ({
  before: was ? control(was, is) : h("p", { class: "quiet" }, "No such control."),
  after: is ? control(is, undefined, was) : h("p", { class: "quiet" }, "No such control."),
  who: whoOf(was, is, counted),
});

/** whoOf says who notices that a control has changed.
 * @param {Param | undefined} was @param {Param | undefined} is @param {Counted} counted
 * @returns {Child} */
function whoOf(was, is, counted) {
  const label = (is ?? was)?.label || (is ?? was)?.key || "";
  const name = (/** @type {string} */ text) => h("strong", {}, value(text));
  if (!was) return h("p", {}, "Nobody yet: editors can set ", name(label), " from now on.");
  if (!is) {
    return [h("p", {}, "Feeds that set ", name(label), " lose it: editors can no longer see or change it."),
      counted((c) => c.rule === "modifier-removed" || (c.rule === "param-key-changed" && c.old === was.key))];
  }
  const gone = was.options.filter((option) => !is.options.some((other) => other.value === option.value));
  const added = is.options.filter((option) => !was.options.some((other) => other.value === option.value));
  return [
    gone.map((option) => [h("p", {}, "Feeds saved with ", name(`${label}: ${option.label || option.value}`),
      " keep asking for it; the service must still answer."),
      counted((c) => c.rule === "option-removed" && c.subject.at(-1) === option.value)]),
    added.map((option) => h("p", {}, "Editors can choose ", name(option.label || option.value), ".")),
    was.default !== is.default && h("p", {}, "New feeds start with ", name(is.default ?? "nothing"), " instead of ",
      name(was.default ?? "nothing"), ". Saved values stay."),
    was.control !== is.control && [h("p", {}, "Saved values may not fit the new control."),
      counted((c) => c.rule === "param-type-changed")],
    (was.label !== is.label || was.placeholder !== is.placeholder) && h("p", {}, "Editors see other words."),
  ];
}

/** control draws a control, not to be used.
 * @param {Param} param @param {Param} [next] what becomes of it @param {Param} [last] what it was */
function control(param, next, last) {
  const mark = (/** @type {string} */ text) => (next && !next.options.some((o) => o.value === text) ? "gone"
    : last && !last.options.some((o) => o.value === text) ? "new" : "");
  const other = next ?? last;
  const changed = other && other.default !== param.default ? (next ? "gone" : "new") : "";
  return h("div", { class: "form-of" },
    h("p", {}, value(param.label || param.key, "strong"), " ",
      h("span", { class: "field-key" }, value("?" + param.key))),
    param.options.length > 0 ? h("ul", { class: "options-of" }, param.options.map((option) => h("li", {
      class: mark(option.value), key: option.value,
    }, value(option.label || option.value),
      option.value === param.default && h("span", { class: "quiet" }, " (preset)"))))
      : h("p", { class: "box-of " + changed }, param.default ? value(param.default)
        : h("span", { class: "quiet" }, value(param.placeholder || param.control))));
}

/** sentAs is a key with how it is sent, where that is not as usual. @param {ContextField} item */
const sentAs = (item) => item.key + (item.sent_as === item.key ? "" : ` as ${item.sent_as}`)
  + (item.type === "ctx" ? "" : ` (${item.type})`);

/** contextRow is what the app adds.
 * @param {ContextField[]} was @param {ContextField[]} is @param {Counted} counted @returns {Row} */
function contextRow(was, is, counted) {
  const row = (/** @type {ContextField[]} */ items, /** @type {ContextField[]} */ others,
    /** @type {string} */ kind) => {
    const differs = (/** @type {ContextField} */ item) => !others.some((other) => sentAs(other) === sentAs(item)
      && (kind === "lost" || other.required >= item.required)); // one that may be left out from now on is not lost
    const kindOf = (/** @type {ContextField} */ item) =>
      (differs(item) ? kind : "") + (item.required && !(differs(item) && kind === "lost") ? " required" : "");
    return h("p", { class: "gets" }, "The app adds ", items.length === 0 && "no keys",
      items.map((item) => chip(sentAs(item), kindOf(item))));
  };
  return {
    before: row(was, is, "lost"), after: row(is, was, "arrived"),
    who: pairs(was, is, (item) => item.key).map(({ was: old, is: now }) => {
      const key = (now ?? old)?.key ?? "";
      const count = (/** @type {string} */ rule) =>
        counted((c) => c.rule === rule && c.subject[0] === "context" && c.subject[1] === key);
      return [
        now?.required && !old?.required && [h("p", {}, "Apps without ", code(key), " get an error."),
          count("context-required")],
        old?.required && now && !now.required && h("p", {}, "Apps may leave out ", code(key), "."),
        old && now && sentAs(old) !== sentAs(now) && [h("p", {}, "The service gets ", code(key), " in another way."),
          count("context-type-changed") ?? count("context-mapper-changed")],
        !now && [h("p", {}, "The service no longer gets ", code(key), "."), count("context-removed")],
        !old && !now?.required && h("p", {}, "Apps that have ", code(key), " send it."),
      ];
    }),
  };
}
