import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { markOf, stopMarked } from "../../../../adapters/host/process/marked-processes.ts";

/** A zombie counts as dead, since a container may have no init that reaps orphans. */
function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Starts a process that prints its pid and keeps running, as leader of its own group like all that `run` starts. */
async function startMarked(token: string, argv: readonly string[]): Promise<{ ended: Promise<unknown[]> }> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    detached: true,
    env: { ...process.env, ...markOf(token) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  return { ended };
}

test("stops marked processes with their groups, and no others", async (t) => {
  const token = crypto.randomUUID();
  const stays = ["sh", "-c", "echo up; sleep 30 & wait"];
  const marked = [await startMarked(token, stays), await startMarked(token, stays)];
  const other = await startMarked(`${token}-other`, stays);
  let otherEnded = false;
  void other.ended.then(() => {
    otherEnded = true;
  });
  await stopMarked(token);
  for (const { ended } of marked) {
    t.strictSame(await ended, [null, "SIGTERM"]);
  }
  t.equal(otherEnded, false);
  await stopMarked(`${token}-other`);
  t.strictSame(await other.ended, [null, "SIGTERM"]);
});

test("kills a process that ignores SIGTERM after half a second", async (t) => {
  const token = crypto.randomUUID();
  const { ended } = await startMarked(token, [
    "sh",
    "-c",
    "trap '' TERM; echo up; sleep 30 & wait; sleep 30",
  ]);
  const startedAtMs = performance.now();
  await stopMarked(token);
  t.ok(performance.now() - startedAtMs >= 500);
  t.ok(performance.now() - startedAtMs < 20_000);
  t.strictSame(await ended, [null, "SIGKILL"]);
});

test("also finds a child whose group leader has exited", async (t) => {
  const token = crypto.randomUUID();
  const pidFile = join(t.testdir(), "pids");
  const fixture = join(import.meta.dirname, "fixtures/leaves-child.sh");
  const child = spawn(fixture, [pidFile], {
    detached: true,
    // A long environment such as tap's is read in pieces, and the later ones are missing once the child has become
    // `sleep`.
    env: { PATH: process.env.PATH, ...markOf(token) },
    stdio: "ignore",
  });
  await once(child, "exit");
  const pid = readFileSync(pidFile, "utf8").trim();
  t.match(readFileSync(`/proc/${pid}/environ`, "latin1"), token);
  await stopMarked(token);
  t.equal(isAlive(pid), false);
});

test("resolves at once for a token without processes", async (t) => {
  await stopMarked(crypto.randomUUID());
  t.end();
});
