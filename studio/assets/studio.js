// Signpost studio: what is registered, what is chosen of it, and what happens when that changes.

import { call, Refused } from "./api.js";
import { announce, badge, byId, clock, count, el, fill, plain, show, value } from "./dom.js";
import { showEndpoint } from "./endpoint.js";
import { findingItems, showChanges, showFindings, showMatch, summary } from "./panels.js";

let sources = [];
let current = ""; // the id of the source that is looked at
const chosen = new Map(); // by source: { version, endpoints: by version the URL }
const updated = new Set(); // the sources that were updated by hand

const source = () => sources.find((s) => s.id === current);

function choiceOf(s) {
  if (!chosen.has(s.id)) chosen.set(s.id, { version: "", endpoints: new Map() });
  return chosen.get(s.id);
}

function versionOf(s) {
  return s.versions.find((v) => v.name === choiceOf(s).version) ?? s.versions[0];
}

function endpointOf(s, version) {
  const url = choiceOf(s).endpoints.get(version.name);
  return version.endpoints.find((e) => e.url === url) ?? version.endpoints[0];
}

function choose(sourceID, version, url) {
  if (sourceID !== current) fill(byId("match-result")); // it was said with the other source in view
  current = sourceID;
  const choice = choiceOf(source());
  if (version !== undefined) choice.version = version;
  if (url !== undefined) choice.endpoints.set(version, url);
  render();
}

// place takes over a source that is new or has changed.
function place(s) {
  const i = sources.findIndex((other) => other.id === s.id);
  if (i < 0) sources.push(s);
  else {
    keepChoice(sources[i], s);
    sources[i] = s;
  }
}

// keepChoice finds the chosen endpoints again where the host in their URLs has changed.
function keepChoice(before, after) {
  if (before.host === after.host) return;
  for (const [version, url] of choiceOf(after).endpoints) {
    choiceOf(after).endpoints.set(version, url.replace("://" + before.host, "://" + after.host));
  }
}

function render() {
  show(byId("loading"), false);
  const s = source() ?? sources[0];
  show(byId("empty"), !s);
  show(byId("workspace"), Boolean(s));
  if (!s) return;
  current = s.id;
  renderTabs(s);
  renderSource(s);
  showFindings(s);
  showChanges(s, updated.has(s.id));
  const version = versionOf(s);
  const endpoint = version && endpointOf(s, version);
  renderEndpoints(s, version, endpoint);
  show(byId("endpoint"), Boolean(endpoint));
  show(byId("endpoint-blank"), !endpoint);
  if (endpoint) showEndpoint(s, version.name, endpoint);
  else byId("endpoint-blank").textContent = blankText(s, version);
}

function blankText(s, version) {
  if (version) return "This manifest has no endpoints yet. Add one to it, and it appears here.";
  if (s.findings.length === 0) return "There is nothing to show for this host.";
  return "This file has errors. Mend what the findings say and save it: the page follows by itself.";
}

function shortName(s) {
  if (s.kind !== "address") return s.name.split(/[/\\]/).pop();
  if (!URL.canParse(s.name)) return s.name;
  const url = new URL(s.name);
  return url.host + url.pathname.replace(/\/endpoints-manifest$/, "");
}

function renderTabs(s) {
  show(byId("tabs"), sources.length > 1);
  fill(byId("tabs"), sources.map((other) => el("li", {},
    el("button", { type: "button", "aria-current": other === s ? "true" : null, title: plain(other.name), onclick: () => choose(other.id) },
      plain(shortName(other))))));
}

function renderSource(s) {
  const version = versionOf(s);
  document.title = plain(`${shortName(s)} · Signpost studio`);
  fill(byId("source-title"), value(s.title || shortName(s)));
  const link = manifestLink(s, version);
  fill(byId("source-facts"),
    value(s.kind === "example" ? "the built-in example" : s.name),
    el("span", {}, s.kind === "address" ? "fetched " : "read ", clock(s.read)),
    version && version.revision && el("span", { title: plain("Revision " + version.revision) }, "revision ", plain(version.revision.slice(0, 8))),
    link && el("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, "Manifest"));

  const host = byId("host");
  show(byId("host-form"), s.kind !== "address" && s.host_open);
  if (document.activeElement !== host && host.value !== s.host) {
    host.value = s.host;
    show(byId("host-failure"), false);
  }
  renderVersions(s, version);
  show(byId("update"), s.kind === "address");
  show(byId("remove"), s.kind === "address");
  const notes = [...s.notes];
  if (s.stale && s.versions.length > 0) {
    notes.unshift("The file has errors. A service goes on with the last good one, and so does this page.");
  }
  fill(byId("notes"), notes.map((note) => el("li", {}, plain(note))));
}

// manifestLink returns where the manifest itself can be read. An address was checked by the server, and is here again.
function manifestLink(s, version) {
  if (s.kind !== "address") return version ? version.route : "";
  return /^https?:\/\//i.test(s.name) ? s.name : "";
}

function renderVersions(s, version) {
  const box = byId("versions");
  const names = s.versions.map((v) => v.name);
  show(box, names.length > 1);
  const signature = JSON.stringify([s.id, names, version && version.name]);
  if (box.dataset.signature === signature) return;
  box.dataset.signature = signature;
  const focused = box.contains(document.activeElement);
  fill(box, box.querySelector("legend"), s.versions.map((v) => {
    const input = el("input", { type: "radio", name: "version", value: v.name, onchange: () => choose(s.id, v.name) });
    input.checked = v === version;
    return el("label", {}, input, el("span", {}, plain(v.name)));
  }));
  if (focused) box.querySelector("input:checked")?.focus();
}

const manyEndpoints = 12; // from here on a filter helps
const maxEndpoints = 500; // that are listed at once

function renderEndpoints(s, version, endpoint) {
  const all = version ? version.endpoints : [];
  const filter = byId("filter");
  show(filter, all.length >= manyEndpoints);
  const words = filter.hidden ? "" : filter.value.trim().toLowerCase();
  const found = all.filter((e) => (e.name + " " + e.url).toLowerCase().includes(words));
  byId("endpoints-count").textContent = all.length || "";
  const list = byId("endpoints");
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.url : null;
  fill(list, found.slice(0, maxEndpoints).map((e) => el("li", {},
    el("button", {
      type: "button", "aria-current": e === endpoint ? "true" : null, title: plain(e.url), "data-url": e.url,
      onclick: () => { choose(s.id, version.name, e.url); if (narrow.matches) byId("main").scrollIntoView(); },
    },
    el("span", { class: "row" }, value(e.name, "name"), badge(e.method.toUpperCase(), e.method === "post" ? "post" : "get")),
    el("span", { class: "where" }, value(locationOf(e)))))));
  if (focused) [...list.querySelectorAll("button")].find((b) => b.dataset.url === focused)?.focus();
  const blank = byId("endpoints-blank");
  show(blank, found.length === 0 || found.length > maxEndpoints);
  if (found.length > maxEndpoints) blank.textContent = `And ${found.length - maxEndpoints} more: filter to find them.`;
  else blank.textContent = all.length === 0 ? "None." : "No endpoint has this in its name or URL.";
}

// locationOf leaves out the host that all endpoints share.
function locationOf(e) {
  const path = e.url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  return e.foreign || path === "" ? e.url.replace(/^https?:\/\//i, "") : path;
}

let asked = false; // whether the address that the studio was started with has been registered
let refreshes = 0;

// refresh takes over what the server has now.
async function refresh() {
  const mine = ++refreshes;
  let now;
  try {
    now = await call("/api/state");
  } catch {
    return; // the banner says so
  }
  if (mine !== refreshes) return; // another is on its way, and newer
  const before = sources.find((s) => s.id === "file");
  const file = now.sources.find((s) => s.id === "file");
  sources = sources.filter((s) => now.sources.some((other) => other.id === s.id));
  now.sources.forEach(place);
  sources.sort((a, b) => now.sources.findIndex((s) => s.id === a.id) - now.sources.findIndex((s) => s.id === b.id));
  if (before && file && before.read !== file.read) {
    announce(`${shortName(file)} was saved. ${summary(file.findings)}.`);
    flash();
  }
  if (now.start && !asked) {
    asked = true;
    byId("address").value = now.start;
    await register(now.start);
    return;
  }
  render();
}

function flash() {
  const node = byId("source-facts");
  node.classList.remove("flash");
  void node.offsetWidth; // so that the animation begins anew
  node.classList.add("flash");
}

// attempt runs an action, and shows a failure in a box.
async function attempt(box, action) {
  show(box, false);
  try {
    await action();
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    fill(box, el("p", {}, el("strong", {}, plain(refused.message))), refused.hint && el("p", {}, plain(refused.hint)),
      refused.findings?.length > 0 && el("ul", { class: "findings" }, findingItems(refused.findings)));
    show(box, true);
  }
}

// busy runs an action while a button says so.
async function busy(button, label, action) {
  if (button.ariaBusy === "true") return;
  const before = button.textContent;
  button.setAttribute("aria-busy", "true");
  button.textContent = label;
  await action();
  button.removeAttribute("aria-busy");
  button.textContent = before;
}

async function register(address) {
  const form = byId("register");
  await busy(form.querySelector("button"), "Registering…", () => attempt(byId("register-failure"), async () => {
    const known = new Set(sources.map((s) => s.id));
    const s = await call("/api/register", { address });
    if (known.has(s.id)) updated.add(s.id);
    place(s);
    choose(s.id);
    form.reset();
    announce(`Registered: ${count(s.versions[0].endpoints.length, "endpoint")}. ${summary(s.findings)}.`);
  }));
  render();
}

byId("register").addEventListener("submit", (event) => {
  event.preventDefault();
  const address = byId("address").value.trim();
  if (address === "") byId("address").focus();
  else register(address);
});

byId("update").addEventListener("click", () => busy(byId("update"), "Updating…", () => attempt(byId("source-failure"), async () => {
  const s = await call("/api/update", { source: current });
  updated.add(s.id);
  place(s);
  render();
  byId("changes").scrollIntoView({ block: "nearest" });
  announce(s.changes.length ? `Updated: ${count(s.changes.length, "change")}.` : "Updated: nothing has changed.");
})));

byId("remove").addEventListener("click", () => attempt(byId("source-failure"), async () => {
  const id = current;
  await call("/api/remove", { source: id });
  sources = sources.filter((s) => s.id !== id);
  updated.delete(id);
  chosen.delete(id);
  render();
  byId("address").focus();
  announce("Removed.");
}));

async function setHost() {
  const input = byId("host");
  if (!source() || input.value.trim() === source().host) return;
  await attempt(byId("host-failure"), async () => {
    place(await call("/api/host", { host: input.value }));
    input.value = source().host;
    render();
    announce(`The host is ${source().host}.`);
  });
}
byId("host-form").addEventListener("submit", (event) => { event.preventDefault(); setHost(); });
byId("host").addEventListener("change", setHost);

byId("match-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(byId("match-result"), async () => {
    const { match } = await call("/api/match", { source: current, feed: byId("feed").value });
    const owner = match && sources.find((s) => s.id === match.source);
    showMatch(match, owner && owner.id !== current ? shortName(owner) : "", () => choose(match.source, match.version, match.endpoint));
    show(byId("match-result"), true);
  });
});

byId("filter").addEventListener("input", render);

// Arrow keys go up and down the list of endpoints.
byId("endpoints").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...byId("endpoints").querySelectorAll("button")];
  buttons[buttons.indexOf(document.activeElement) + step]?.focus();
});

// On a narrow page, findings and what follows stand below the endpoint, for the keyboard as for the eye.
const narrow = matchMedia("(max-width: 860px)");
function arrange() {
  const panels = [byId("findings"), byId("changes"), byId("match")];
  if (narrow.matches) byId("main").after(...panels);
  else byId("side").append(...panels);
}
narrow.addEventListener("change", arrange);
arrange();

// The server says when something has changed. A stream that begins, or begins again, may have missed something.
const events = new EventSource("/api/events");
let offline = 0;
events.addEventListener("open", () => {
  clearTimeout(offline);
  offline = 0;
  show(byId("offline"), false);
  refresh();
});
events.addEventListener("changed", refresh);
events.addEventListener("error", () => { // again and again, while nobody answers
  offline ||= setTimeout(() => show(byId("offline"), true), 1500);
});
