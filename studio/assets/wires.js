// The lines of the map: from each endpoint to those that shadow it, and from the winner to what the app sends.

import { lazy } from "./dom.js";

/** wires is the layer of lines. What is in it belongs to draw, which follows every rendering and every new size. */
export function wires() {
  queueMicrotask(draw);
  return lazy("div", { class: "wires", key: "wires", id: "wires", "aria-hidden": "true",
    created: (layer) => new ResizeObserver(draw).observe(layer) }, [], () => []);
}

function draw() {
  const layer = document.getElementById("wires");
  const drawing = layer?.parentElement;
  if (!drawing) return;
  const around = drawing.getBoundingClientRect();
  const shape = (/** @type {string} */ name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const svg = shape("svg");
  const nodes = new Map([...drawing.querySelectorAll("#losses [data-node]")].map((node) => // not of what is folded
    [node.getAttribute("data-node"), node]));
  const line = (/** @type {Element} */ from, /** @type {Element} */ to, /** @type {string} */ kind) => {
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const [x, y] = [a.right - around.left, a.top + a.height / 2 - around.top];
    const [end, height] = [b.left - around.left, b.top + b.height / 2 - around.top];
    if (end < x) return; // below each other, where there is no room
    const curve = shape("path");
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
