// Reading the context keys that apps send.

// readCtx returns the context of a request as an object. It accepts base64url, with or without padding, the standard
// alphabet, and values that were percent-encoded again on the way.
export function readCtx(ctx) {
  if (required(ctx) === undefined) return {};
  while (ctx.includes("%")) ctx = decodeURIComponent(ctx);
  const text = Buffer.from(ctx.replaceAll(" ", "+"), "base64").toString("utf8");
  if (text === "undefined" || text === "null") return {};
  const values = JSON.parse(text);
  if (values === null || typeof values !== "object" || Array.isArray(values)) throw new TypeError("ctx is not a JSON object");
  return values;
}

// readBearer returns the token of an Authorization header, or undefined: the value of a key of type bearerHeader.
export function readBearer(authorization) {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

// required returns the value of a key, or undefined if an app has none and sends "undefined", "null" or nothing instead.
export function required(value) {
  return [undefined, null, "", "undefined", "null"].includes(value) ? undefined : value;
}
