// Pictures are loaded a few at a time: a browser opens six connections to a host, and typing needs some of them, too.

import { plain } from "./dom.js";
import { Refused } from "./server.js";

const maxLoading = 3;
let loading = 0;

/** The pictures that are in view and not loaded yet. @type {HTMLImageElement[]} */
let queue = [];

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    queue.push(/** @type {HTMLImageElement} */ (target));
  }
  next();
}, { rootMargin: "200px" });

/** show loads a picture when it is in view. Its address is in data-src. @param {HTMLImageElement} image */
export const show = (image) => queueMicrotask(() => seen.observe(image));

function next() {
  while (loading < maxLoading) {
    const image = queue.shift();
    if (!image) return;
    if (!image.isConnected || !image.dataset.src) continue;
    loading++;
    load(image, image.dataset.src).finally(() => {
      loading--;
      next();
    });
  }
}

/** load fetches a picture, since an element does not say why it could not be shown, and shows it out of the cache.
 * @param {HTMLImageElement} image @param {string} src */
async function load(image, src) {
  const failed = image.nextElementSibling;
  try {
    const response = await fetch(src);
    if (!response.ok) throw new Refused(await response.json());
    await response.blob();
    image.src = src;
    await image.decode();
  } catch (refused) {
    image.classList.add("broken");
    const why = refused instanceof Refused ? refused.message : "it cannot be shown.";
    if (failed) failed.textContent = plain(`Picture not loaded: ${why}`);
  }
}
