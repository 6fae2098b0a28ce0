// node fastify.js port file

import fastify from "fastify";
import { load } from "./manifest.js";

const [port, file] = process.argv.slice(2);
const manifestFor = load(file);
const app = fastify();

app.get("/v1/endpoints-manifest", (request, reply) => {
  reply.type("application/json").send(JSON.stringify(manifestFor(request.hostname)) + "\n");
});

await app.listen({ port: Number(port), host: "127.0.0.1" });
