#!/usr/bin/env node
// Starts the ttyward of this machine's platform package, with the same terminal, streams, signals and exit status.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `@ttyward/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/ttyward`);
} catch {
  console.error(`ttyward: there is no program for ${process.platform} ${process.arch} here (${platform} is not installed); ` +
    "install again without --omit=optional, or build it from source");
  process.exit(125);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both of us; others are passed on. The child decides what they mean.
const passed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH"];
for (const name of passed) {
  process.on(name, () => {
    if (!(process.stdin.isTTY && ["SIGINT", "SIGQUIT", "SIGWINCH"].includes(name))) child.kill(name);
  });
}
child.on("error", (error) => {
  console.error(`ttyward: ${program} cannot be started: ${error.message}`);
  process.exit(125);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
