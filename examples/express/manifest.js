// An Express route for a manifest that "signpost render --keep-host --compact" wrote at build time.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// manifest returns a handler that puts the requested host into the manifest in file. It answers for the allowed hosts
// only, since apps send access tokens to the host that is in the manifest.
export function manifest(file, allowedHosts) {
  const template = readFileSync(file, "utf8");
  return (req, res) => {
    const host = req.hostname.toLowerCase().replace(/\.$/, "");
    if (!allowedHosts.includes(host)) return res.status(421).json({ title: "Misdirected Request", status: 421 });
    const body = template.replaceAll("{{host}}", host);
    res.set({
      "Access-Control-Allow-Origin": "*",
      "Cache-Control": "no-cache",
      ETag: `"${createHash("sha256").update(body).digest("base64url")}"`,
    });
    res.type("json").send(body);
  };
}
