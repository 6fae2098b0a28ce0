// A feed service in Fastify that publishes its own manifest: node server.js [port]

import Fastify from "fastify";
import { readCtx, required } from "./ctx.js";
import { manifest } from "./manifest.js";

// Behind a reverse proxy that replaces Host: Fastify({ trustProxy: "10.0.0.5" }), the address of the proxy.
const app = Fastify();

const hosts = (process.env.HOSTS ?? "feeds.example.com,localhost").split(",");
const v1 = manifest("manifest.v1.json", hosts);

app.get("/v1/endpoints-manifest", (request, reply) => {
  const { status, headers, body } = v1(request.hostname, request.headers["if-none-match"]);
  return reply.code(status).headers(headers).send(body);
});

app.get("/v1/matches", (request, reply) => {
  return reply.header("Access-Control-Allow-Origin", "*").send({
    title: "Matches",
    entry: [{ id: "7", title: "North against South", link: `https://${request.hostname}/v1/matches/7/events` }],
  });
});

app.get("/v1/matches/:id/events", (request, reply) => {
  return reply.header("Access-Control-Allow-Origin", "*").send({ title: `Events of match ${request.params.id}`, entry: [] });
});

app.get("/v1/media", (request, reply) => {
  reply.headers({ "Access-Control-Allow-Origin": "*", "Cache-Control": "private" });
  let keys;
  try {
    keys = readCtx(request.query.ctx);
  } catch {
    return reply.code(400).send({ title: "ctx cannot be read" });
  }
  if (required(keys["plugin-login-flow.access_token"]) !== "s3cr3t") return reply.code(401).send({ title: "sign in first" });
  return reply.send({ title: "Media", entry: [] });
});

await app.listen({ port: Number(process.argv[2] ?? 3000), host: "127.0.0.1" });
console.log(`feeds are at http://localhost:${app.server.address().port}`);
