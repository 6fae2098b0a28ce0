// Everything from a manifest is put into the page as text, by the functions of this module. None of them takes markup.

export const byId = (id) => document.getElementById(id);

// el makes an element. Props are attributes, or listeners where the name starts with "on".
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
}

// fill replaces what is in a node. Children may be lists of lists, and those that are not there are left out.
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
}

const present = (children) => children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);

// show hides a node that has nothing to show.
export function show(node, visible) {
  node.hidden = !visible;
}

// Control characters, and those that turn the direction of what follows, could make a URL look like another one.
const unseen = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

// plain returns a text with such characters spelled out.
export function plain(text) {
  return String(text).replace(unseen, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// value is a text from a manifest, kept apart from the text around it.
export const value = (text, cls) => el("bdi", { class: cls }, plain(text));

export const code = (text) => el("code", {}, el("bdi", {}, plain(text)));

export const badge = (text, kind = "") => el("span", { class: "badge " + kind }, plain(text));

export const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

// announce tells screen readers what has happened elsewhere on the page.
export function announce(message) {
  byId("status").textContent = message;
}

// copies makes a button copy a text, and say so.
export function copies(button, text) {
  const label = button.textContent;
  let timer;
  button.addEventListener("click", async () => {
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      done = "Not allowed";
    }
    button.textContent = done;
    announce(done);
    clearTimeout(timer);
    timer = setTimeout(() => { button.textContent = label; }, 1500);
  });
}
