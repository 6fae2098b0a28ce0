// The manifest that "signpost render --keep-host --compact" wrote at build time, for any framework.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// manifest returns a function that answers a request: it takes the requested host name, without its port, and the
// If-None-Match header, and returns the status, headers and body of the response. It answers for the allowed hosts only,
// since apps send access tokens to the host that is in the manifest.
export function manifest(file, allowedHosts) {
  const template = readFileSync(file, "utf8");
  return (hostname, ifNoneMatch) => {
    const host = (hostname ?? "").toLowerCase().replace(/\.$/, "");
    if (host === "") return problem(400, "Bad Request");
    if (!allowedHosts.includes(host)) return problem(421, "Misdirected Request");
    const body = template.replaceAll("{{host}}", host);
    const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
    const headers = { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache", ETag: etag };
    const known = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known.includes(etag) || known.includes("*")) return { status: 304, headers, body: "" };
    return { status: 200, headers: { ...headers, "Content-Type": "application/json" }, body };
  };
}

function problem(status, title) {
  const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "application/problem+json" };
  return { status, headers, body: JSON.stringify({ title, status }) };
}
