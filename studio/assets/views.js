// The views of the page: one line each, with its name, what is marked beside it, and what shows it.

import { changesView } from "./changes.js";
import { checkMark, checkView } from "./check.js";
import { mapView } from "./map.js";
import { previewView } from "./preview.js";
import { problemsView } from "./problems.js";
import { losses } from "./select.js";

/** @typedef {{ text: string | number, kind: string } | null} Mark */

/** @type {{ name: string, label: string, show: (s: Source) => Child, mark: (s: Source) => Mark }[]} */
export const views = [
  { name: "preview", label: "Preview", show: previewView, mark: () => null },
  { name: "map", label: "Map", show: mapView, mark: () => some(losses().length, "notable") },
  { name: "problems", label: "Problems", show: problemsView, mark: (s) => some(s.findings.length, worst(s, "error")) },
  { name: "changes", label: "Changes", show: changesView, mark: (s) => some(s.changes.length, worst(s, "breaking")) },
  { name: "check", label: "Check", show: checkView, mark: checkMark },
];

/** @param {number} n @param {string} kind @returns {Mark} */
const some = (n, kind) => (n > 0 ? { text: n, kind } : null);

/** @param {Source} s @param {string} level */
const worst = (s, level) => (s.findings.some((f) => level === f.severity)
  || s.changes.some((c) => level === c.level) ? "bad" : "notable");
