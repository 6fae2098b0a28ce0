// The palette goes anywhere: to an endpoint by its name, URL, context key or modifier, to the endpoint of a feed, to a
// view.

import { choose, openEndpoint, openFeed } from "./actions.js";
import { address, badge, h, plain, value } from "./dom.js";
import { go } from "./route.js";
import { endpointsOf, judged, pathOf, serviceName, sources, wordsOf } from "./select.js";
import { change, state } from "./store.js";
import { views } from "./views.js";

// What an item is found by is in all, in lower case.
/** @typedef {{ id: string, label: () => Child, go: () => unknown, all: string }} Item */

const maxItems = 12;

/** @returns {Item[]} */
const items = () => [
  ...endpointsOf(sources()).map(({ source: s, version: v, endpoint: e, id }) => ({
    id, all: wordsOf(e), go: () => openEndpoint({ source: s.id, version: v.name, key: e.key }),
    label: () => [value(e.name, "strong"), " ", v.name && badge(v.name), " ",
      h("span", { class: "quiet" }, value(pathOf(v, e)), sources().length > 1 && [", ", value(serviceName(s))])],
  })),
  ...views.map(({ name, label }) => ({
    id: "view:" + name, all: "view " + name, label: () => ["View: ", label],
    go: () => { close(); go({ view: name, pane: "list" }); },
  })),
  ...judged().map((s) => ({
    id: "source:" + s.id, all: ("service " + s.id + " " + s.title).toLowerCase(),
    label: () => ["Service: ", value(serviceName(s))],
    go: () => { close(); choose(s.id); },
  })),
];

/** matching returns the items with all of the words, those whose names fit them best first. @param {string[]} words */
function matching(words) {
  const found = items().filter((item) => words.every((word) => item.all.includes(word)));
  const ranked = found.map((item) => ({ item, rank: rank(item.all.split("\n", 1)[0], words) }));
  return ranked.sort((a, b) => a.rank - b.rank).slice(0, maxItems).map(({ item }) => item);
}

/** rank is lower the better a name fits: it is what was typed, begins with it, its words do, or it has them.
 * @param {string} name @param {string[]} words */
function rank(name, words) {
  const text = words.join(" ");
  const parts = name.split(/[^\p{L}\p{N}]+/u);
  const fits = [name === text, name.startsWith(text),
    words.every((word) => parts.some((part) => part.startsWith(word))),
    words.every((word) => name.includes(word)), true];
  return fits.indexOf(true);
}

/** feedItem is what a pasted feed leads to. @param {string} feed @returns {Item} */
const feedItem = (feed) => ({
  id: "feed", all: "", label: () => ["The endpoint that answers for ", address(feed)],
  go: () => { close(); return openFeed(feed); },
});

export function paletteDialog() {
  const { text, at } = state.palette;
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const found = /^\s*https?:\/\//i.test(text) ? [feedItem(text.trim())] : matching(words);
  const chosen = found[Math.min(at, found.length - 1)];
  return [
    h("h2", { id: "dialog-title", class: "unseen" }, "Search"),
    h("input", {
      id: "palette", type: "search", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list",
      "aria-label": "Search for an endpoint, key or modifier, or paste a feed URL", autocomplete: "off",
      spellcheck: "false", value: text,
      "aria-activedescendant": chosen ? "palette-item-" + found.indexOf(chosen) : undefined,
      placeholder: "Endpoint, key, modifier, or a feed URL",
      oninput: (event) => change((state) => { state.palette = { text: event.target.value, at: 0 }; }),
      onkeydown: (event) => {
        const step = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
        if (step) {
          event.preventDefault();
          change((state) => { state.palette.at = Math.max(0, Math.min(at + step, found.length - 1)); });
        } else if (event.key === "Escape") {
          event.preventDefault(); // which would only clear the field
          close();
        } else if (event.key === "Enter") {
          event.preventDefault();
          return chosen?.go();
        }
        return undefined;
      },
    }),
    h("ul", { id: "palette-list", role: "listbox", "aria-label": "Found", hidden: found.length === 0 },
      found.map((item, i) => h("li", {
        key: item.id, id: "palette-item-" + i, role: "option", "aria-selected": String(item === chosen),
        onclick: item.go,
      }, item.label()))),
    found.length === 0 && h("p", { class: "blank-line" }, plain(`Nothing matches “${text.trim()}”.`)),
  ];
}

const close = () => change((state) => { state.dialog = ""; });
