// A manifest the natural way: an object with the host put into its URLs and the context keys of the features added, made
// for each request.

import { readFileSync } from "node:fs";

const features = [
  { suffix: "", context: [{ key: "signedDeviceInfoToken", type: "ctx", required: false }] },
];

export function load(file) {
  const { endpoints } = JSON.parse(readFileSync(file, "utf8"));
  return (host) => {
    const manifest = { endpoints: {} };
    for (const [url, endpoint] of Object.entries(endpoints)) {
      const context = features.filter((feature) => url.endsWith(feature.suffix)).flatMap((feature) => feature.context);
      manifest.endpoints[url.replaceAll("{{host}}", host)] = { ...endpoint, context_obj: [...endpoint.context_obj, ...context] };
    }
    return manifest;
  };
}
