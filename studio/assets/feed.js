// Reads the entries of a feed out of JSON, whatever its fields are called.

import { nodeOf, valueOf } from "./json.js";

const listNames = ["entry", "entries", "items", "item", "results", "data", "videos", "episodes", "content", "elements",
  "list"];
const titleNames = ["title", "name", "label", "headline", "displayName", "display_name"];
const pictureNames = /image|picture|thumb|poster|artwork|cover|icon|logo|src/i;
const pictureEnding = /\.(png|jpe?g|gif|webp|avif)(\?|#|$)/i;

// Cards beyond this are not shown: nobody scrolls through more to see whether a feed is right.
const maxCards = 200;
const maxDepth = 6;

/** read returns the entries of a feed, or null if it has none that can be told.
 * @param {JsonNode} root @returns {Feed | null} */
export function read(root) {
  const json = valueOf(root);
  const found = entriesOf(json);
  if (!found) return null;
  return { cards: found.slice(0, maxCards).map(card), total: found.length, array: Array.isArray(json) };
}

/** @param {any} json @returns {any[] | null} */
function entriesOf(json) {
  if (isEntries(json)) return json;
  if (!isObject(json)) return null;
  for (const name of listNames) if (isEntries(json[name])) return json[name];
  const titled = (/** @type {any} */ entry) => textOf(entry, titleNames) !== "";
  for (const value of Object.values(json)) if (isEntries(value) && value.some(titled)) return value;
  for (const name of ["data", "feed", "response", "result"]) {
    const inner = isObject(json[name]) && entriesOf(json[name]);
    if (inner) return inner;
  }
  return null;
}

/** @param {any} value */
const isObject = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);

/** isEntries reports whether a value is a list of objects, which may be empty. @param {any} value */
const isEntries = (value) => Array.isArray(value) && value.every(isObject);

/** @param {any} entry @param {string[]} names */
function textOf(entry, names) {
  for (const name of names) {
    const value = Object.hasOwn(entry, name) ? entry[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (value && typeof value === "object" && typeof value.text === "string") return value.text;
  }
  return "";
}

/** @param {any} entry @returns {Card} */
function card(entry) {
  const facts = [];
  const type = typeof entry.type === "string" ? entry.type : entry.type?.value;
  if (typeof type === "string") facts.push(type);
  const seconds = Number(entry.extensions?.duration ?? entry.duration);
  if (Number.isFinite(seconds) && seconds > 0) facts.push(`${Math.max(1, Math.round(seconds / 60))} min`);
  return {
    title: textOf(entry, titleNames) || textOf(entry, ["id", "guid", "slug"]) || "Untitled",
    picture: urlsOf(entry).find(isPicture)?.url ?? "",
    facts,
    free: entry.extensions?.free === true || entry.free === true,
    links: linksOf(entry),
    entry,
    node: nodeOf(entry),
  };
}

/** urlsOf returns the URLs in an entry, each with the names of the fields that lead to it.
 * @param {any} value @param {string[]} names @returns {{ url: string, names: string[] }[]} */
function urlsOf(value, names = []) {
  if (typeof value === "string") return /^https?:\/\//i.test(value) ? [{ url: value, names }] : [];
  if (!value || typeof value !== "object" || names.length > maxDepth) return [];
  return Object.entries(value).flatMap(([name, inner]) => urlsOf(inner, [...names, name]));
}

/** isPicture reports whether a URL in an entry is that of a picture. In src, such as that of content, it may be
 * anything.
 * @param {{ url: string, names: string[] }} found */
const isPicture = ({ url, names }) => pictureEnding.test(url)
  || pictureNames.test(names[names.length - 1]) && !(names.length === 2 && names[1] === "src");

// An entry leads to a few feeds at most.
const maxLinks = 5;

/** linksOf returns the URLs in an entry that are no pictures. @param {any} entry @returns {string[]} */
function linksOf(entry) {
  const aboutPictures = (/** @type {string} */ name) => (pictureNames.test(name) && name !== "src")
    || name === "media_group";
  const links = urlsOf(entry).filter(({ url, names }) => !pictureEnding.test(url) && !names.some(aboutPictures));
  return [...new Set(links.map(({ url }) => url))].slice(0, maxLinks);
}

/** fieldOf returns the field of an entry that fills in a placeholder: one of the same name, at the top or in
 * extensions.
 * @param {any} entry @param {string} name */
export function fieldOf(entry, name) {
  for (const from of [entry, entry.extensions]) {
    const value = from && typeof from === "object" && Object.hasOwn(from, name) ? from[name] : undefined;
    if (typeof value === "string") return value;
  }
  return "";
}
