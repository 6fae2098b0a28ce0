// node express.js port file

import express from "express";
import { load } from "./manifest.js";

const [port, file] = process.argv.slice(2);
const manifestFor = load(file);
const app = express();

app.get("/v1/endpoints-manifest", (req, res) => {
  res.type("json").send(JSON.stringify(manifestFor(req.hostname)) + "\n");
});

app.listen(Number(port), "127.0.0.1");
