// A feed service in Express that publishes its own manifest: node server.js [port]

import express from "express";
import { readCtx, required } from "./ctx.js";
import { manifest } from "./manifest.js";

const app = express();
// Behind a reverse proxy that replaces Host: app.set("trust proxy", "10.0.0.5"), the address of the proxy.

const hosts = (process.env.HOSTS ?? "feeds.example.com,localhost").split(",");
const v1 = manifest("manifest.v1.json", hosts);

app.get("/v1/endpoints-manifest", (req, res) => {
  const { status, headers, body } = v1(req.hostname, req.get("If-None-Match"));
  res.status(status).set(headers).send(body);
});

app.get("/v1/matches", (req, res) => {
  res.set("Access-Control-Allow-Origin", "*").json({
    title: "Matches",
    entry: [{ id: "7", title: "North against South", link: `https://${req.hostname}/v1/matches/7/events` }],
  });
});

app.get("/v1/matches/:id/events", (req, res) => {
  res.set("Access-Control-Allow-Origin", "*").json({ title: `Events of match ${req.params.id}`, entry: [] });
});

app.get("/v1/media", (req, res) => {
  res.set({ "Access-Control-Allow-Origin": "*", "Cache-Control": "private" });
  let keys;
  try {
    keys = readCtx(req.query.ctx);
  } catch {
    return res.status(400).json({ title: "ctx cannot be read" });
  }
  if (required(keys["plugin-login-flow.access_token"]) !== "s3cr3t") return res.status(401).json({ title: "sign in first" });
  res.json({ title: "Media", entry: [] });
});

const server = app.listen(Number(process.argv[2] ?? 3000), "127.0.0.1", () => {
  console.log(`feeds are at http://localhost:${server.address().port}`);
});
