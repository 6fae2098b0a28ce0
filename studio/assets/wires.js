// The lines of the map: from each endpoint to those that shadow it, and from the winner to what the app sends.

import { lazy } from "./dom.js";

/** wires is the layer of lines. What is in it belongs to draw. */
export const wires = lazy("div", { class: "wires", key: "wires", "aria-hidden": "true", created: follow }, [],
  () => []);

/** follow draws the lines whenever what they connect has changed. @param {HTMLElement} layer */
function follow(layer) {
  let waiting = false;
  const again = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (layer.isConnected) draw(layer);
    });
  };
  queueMicrotask(() => {
    const drawing = layer.parentElement;
    if (!drawing) return;
    new ResizeObserver(again).observe(drawing);
    new MutationObserver((changes) => { if (changes.some(({ target }) => !layer.contains(target))) again(); })
      .observe(drawing, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
    again();
  });
}

/** @param {HTMLElement} layer */
function draw(layer) {
  const drawing = /** @type {HTMLElement} */ (layer.parentElement);
  const around = drawing.getBoundingClientRect();
  // The page has an empty drawing, since scripts make no markup.
  const svg = /** @type {SVGElement} */ (document.getElementById("wires")?.cloneNode(true));
  const [path] = svg.children;
  svg.replaceChildren();
  svg.removeAttribute("id");
  const nodes = new Map([...drawing.querySelectorAll("#losses [data-node]")].map((node) => // not of what is folded
    [node.getAttribute("data-node"), node]));
  const line = (/** @type {Element} */ from, /** @type {Element} */ to, /** @type {string} */ kind) => {
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const [x, y] = [a.right - around.left, a.top + a.height / 2 - around.top];
    const [end, height] = [b.left - around.left, b.top + b.height / 2 - around.top];
    if (end < x) return; // below each other, where there is no room
    const curve = /** @type {SVGElement} */ (path.cloneNode());
    const middle = (x + end) / 2;
    curve.setAttribute("d", `M${x} ${y}C${middle} ${y} ${middle} ${height} ${end} ${height}`);
    curve.setAttribute("class", kind);
    svg.append(curve);
  };
  for (const lit of [false, true]) { // what is lit is drawn on top
    for (const node of nodes.values()) {
      const parent = nodes.get(node.getAttribute("data-under"));
      if (parent && node.hasAttribute("data-lit") === lit) line(parent, node, lit ? "lit" : "");
    }
  }
  const winner = drawing.querySelector(".node.wins");
  const landing = drawing.querySelector("[data-landing]");
  if (winner && landing) line(winner, landing, "lit travel");
  layer.replaceChildren(svg);
}
