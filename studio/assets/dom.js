// The page is rendered from its state: h describes elements, and patch makes the document look like the description.
// Everything from a manifest or a feed becomes text or an attribute. Nothing here takes markup.

/** h describes an element. Props are attributes, properties such as value, or listeners where the name starts with
 * "on". An element with a key is found again wherever it has moved to among its siblings.
 * @param {string} tag @param {Props} [props] @param {...Child} children @returns {VNode} */
export function h(tag, props = {}, ...children) {
  const { key, ...rest } = props;
  return { tag, key, props: rest, children: vnodes(children), text: "", deps: null, make: null };
}

/** lazy describes an element whose children are made only if one of deps has changed.
 * @param {string} tag @param {Props} props @param {unknown[]} deps @param {() => Child[]} make @returns {VNode} */
export function lazy(tag, props, deps, make) {
  return { ...h(tag, props), deps, make };
}

/** @param {Child[]} children @returns {VNode[]} */
function vnodes(children) {
  /** @type {VNode[]} */
  const out = [];
  for (const child of /** @type {any[]} */ (children.flat(Infinity))) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (typeof child === "object") out.push(child);
    else out.push({ tag: "#text", key: undefined, props: {}, children: [], text: String(child), deps: null,
      make: null });
  }
  return out;
}

/** What each node was made from. @type {WeakMap<Node, VNode>} */
const made = new WeakMap();

const properties = new Set(["value", "checked"]);

/** mount makes a node show children. The focus stays where it is. @param {Element} node @param {...Child} children */
export function mount(node, ...children) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  patchChildren(node, vnodes(children));
  const lost = active && active !== document.activeElement && active !== document.body;
  if (lost && active.isConnected) active.focus({ preventScroll: true });
}

/** @param {Node} parent @param {VNode[]} next */
function patchChildren(parent, next) {
  /** @type {Map<any, Node>} */
  const keyed = new Map();
  /** @type {Node[]} */
  const loose = [];
  for (const node of parent.childNodes) {
    const before = made.get(node);
    if (before && before.key !== undefined) keyed.set(before.key, node);
    else loose.push(node);
  }
  const nodes = next.map((vnode) => reuse(vnode, keyed, loose) ?? create(vnode));
  const keep = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!keep.has(node)) parent.removeChild(node);
  let at = /** @type {Node | null} */ (parent.firstChild);
  next.forEach((vnode, i) => {
    const node = nodes[i];
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
    update(node, vnode);
  });
}

/** @param {VNode} vnode @param {Map<any, Node>} keyed @param {Node[]} loose @returns {Node | undefined} */
function reuse(vnode, keyed, loose) {
  const same = (/** @type {Node | undefined} */ node) => node && made.get(node)?.tag === vnode.tag;
  if (vnode.key !== undefined) {
    const node = keyed.get(vnode.key);
    keyed.delete(vnode.key);
    return same(node) ? node : undefined;
  }
  const i = loose.findIndex((node) => same(node));
  return i < 0 ? undefined : loose.splice(i, 1)[0];
}

/** @param {VNode} vnode @returns {Node} */
function create(vnode) {
  const node = vnode.tag === "#text" ? document.createTextNode("") : document.createElement(vnode.tag);
  made.set(node, { ...vnode, props: {}, text: "", deps: null });
  vnode.props.created?.(node);
  return node;
}

/** @param {Node} node @param {VNode} vnode */
function update(node, vnode) {
  const before = /** @type {VNode} */ (made.get(node));
  made.set(node, vnode);
  if (node instanceof Text) {
    if (before.text !== vnode.text) node.data = vnode.text;
    return;
  }
  const element = /** @type {HTMLElement} */ (node);
  const { deps, make } = vnode;
  const asBefore = deps && deps.length === before.deps?.length && deps.every((dep, i) => dep === before.deps?.[i]);
  if (!asBefore) patchChildren(element, make ? vnodes(make()) : vnode.children);
  // After the children, since the value of a select is one of them.
  for (const name of Object.keys(before.props)) if (!(name in vnode.props)) set(element, name, undefined,
    before.props[name]);
  for (const [name, value] of Object.entries(vnode.props)) set(element, name, value, before.props[name]);
}

/** typing, as the value of an input, leaves in it what is being typed, such as a number that is not complete yet. */
export const typing = Symbol("typing");

/** @param {HTMLElement} element @param {string} name @param {any} value @param {any} before */
function set(element, name, value, before) {
  if (name === "created") return;
  if (name.startsWith("on")) {
    element.addEventListener(name.slice(2), handle); // once, however often it is added
  } else if (name === "open") {
    // Where the description is as it was, somebody has just toggled it, and the event is on its way.
    const details = /** @type {HTMLDetailsElement} */ (element);
    if (value !== before && details.open !== Boolean(value)) details.open = Boolean(value);
  } else if (properties.has(name)) {
    const input = /** @type {any} */ (element);
    if (value === typing) return;
    if (value !== undefined && (input[name] !== value || input.validity?.badInput)) input[name] = value;
    if (value === undefined && before !== undefined) input[name] = name === "value" ? "" : false;
  } else if (value !== before) {
    if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @type {(error: unknown) => void} */
let onFailed = (error) => { throw error; };

/** whenFailed says what happens to the failures of handlers that wait for something.
 * @param {(error: unknown) => void} f */
export function whenFailed(f) {
  onFailed = f;
}

/** handle calls the listener that the description of an element has by now. @param {Event} event */
function handle(event) {
  if (event.type === "submit") event.preventDefault(); // which would leave the page
  const result = made.get(/** @type {Node} */ (event.currentTarget))?.props["on" + event.type]?.(event);
  if (result instanceof Promise) result.catch(onFailed);
}

// Control characters, and those that change the direction of what follows, could make a URL look like another one.
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** plain returns a text with such characters spelled out. @param {unknown} text @returns {string} */
export function plain(text) {
  return String(text).replace(unseen, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** plainLines is plain for a text with lines. @param {string} text */
export const plainLines = (text) => text.split("\n").map(plain).join("\n");

/** value is a text from outside, kept apart from the text around it. @param {unknown} text @param {string} [cls] */
export const value = (text, cls) => h("bdi", { class: cls }, plain(text));

/** address is a URL from outside; a line may end before each of its parts.
 * @param {unknown} text @param {string} [cls] */
export const address = (text, cls = "") => h("bdi", { class: ("url " + cls).trim() },
  plain(text).split(/(?<=[^/:])(?=[/?&])/).map((part, i) => [i > 0 && h("wbr"), part]));

/** @param {unknown} text */
export const code = (text) => h("code", {}, h("bdi", {}, plain(text)));

/** @param {unknown} text @param {string} [kind] */
export const badge = (text, kind = "") => h("span", { class: "badge " + kind }, plain(text));

/** button is a button that does not submit a form. @param {Props} props @param {...Child} children */
export const button = (props, ...children) => h("button", { type: "button", ...props }, children);

/** linkButton is a button that looks like a link.
 * @param {(event: any) => unknown} onclick @param {...Child} children */
export const linkButton = (onclick, ...children) => button({ class: "link", onclick }, children);

/** choice is a select of texts, each with its label.
 * @param {Props} props @param {(text: string) => unknown} onchoose @param {string[][]} options */
export const choice = (props, onchoose, options) => h("select", {
  ...props, onchange: (event) => onchoose(event.target.value),
}, options.map(([text, label]) => h("option", { value: text }, plain(label))));

/** @param {number} n @param {string} word */
export const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

/** @param {number} n */
export const entries = (n) => (n === 1 ? "1 entry" : `${n} entries`);

/** @param {string | number} time */
export const clock = (time) => new Date(time).toLocaleTimeString([], {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
});

/** list returns items as in a sentence: with commas and "and" between them.
 * @param {Child[]} items @returns {Child[]} */
export const list = (items) =>
  items.flatMap((item, i) => (i === 0 ? [item] : [i < items.length - 1 ? ", " : " and ", item]));

/** announce tells screen readers what has happened elsewhere on the page. @param {string} message */
export function announce(message) {
  const node = document.getElementById("status");
  if (node) node.textContent = message;
}

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/** apple is whether the keyboard has a Command key, which shortcuts use there. */
export const apple = /^(Mac|iP)/.test(navigator.platform);
