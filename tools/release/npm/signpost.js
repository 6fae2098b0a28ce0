#!/usr/bin/env node
// Runs the Signpost of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const name = Object.keys(optionalDependencies).find((name) => name.endsWith(`-${platform}`));
if (name === undefined) fail(`there is no package for ${platform}`);

let program;
try {
  program = require.resolve(`${name}/bin/signpost${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  fail(`${name} is not installed: install without --omit=optional, and on the platform that it runs on`);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGHUP", "SIGTERM"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => {}); // Ctrl+C reaches the program without help; wait for it to end
child.on("error", (err) => fail(err.message));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

// fail ends with the exit status for what could not do its work.
function fail(message) {
  console.error(`signpost: ${message}`);
  process.exit(3);
}
