#!/usr/bin/env node
// Starts the program from the package of this platform, in place of Node where Node can.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");
const { name, optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const wanted = `${name}-${platform}`;

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}

function find() {
  try {
    return require.resolve(`${wanted}/bin/adjutant`);
  } catch {
    if (!(wanted in optionalDependencies)) {
      fail(`there is no package of adjutant for ${platform}; build it from source`);
    }
    fail(
      `the package ${wanted} is not installed; install ${name} again, with optional dependencies ` +
        "(no --omit=optional). On Linux it needs glibc; elsewhere build adjutant from source",
    );
  }
}

// For a Node that cannot be replaced: waits for the program, hands on signals, and ends as it did.
function attend(program, args) {
  let child = null;
  // A terminal sends these to the program as well.
  const own = isatty(0) ? ["SIGINT", "SIGQUIT"] : [];
  // Before the program starts: a signal that comes in between would end this process and leave the program behind.
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2"]) {
    process.on(signal, () => own.includes(signal) || child.kill(signal));
  }
  child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => fail(`${program} does not start: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exit(signal === null ? code : 128 + constants.signals[signal]);
  });
}

const program = find();
const args = process.argv.slice(2);
if (typeof process.execve === "function") {
  process.execve(program, [program, ...args], process.env);
} else {
  attend(program, args);
}
