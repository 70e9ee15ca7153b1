import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { markOf, stopMarked } from "../../../adapters/host/marked-processes.ts";

/** A zombie is dead: in a container nobody may be there to reap orphans. */
function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** A process that prints its pid and stays, as leader of its own group like all that `run` starts. */
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

test("marked processes are stopped with their groups, and others are left alone", async (t) => {
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

test("what ignores SIGTERM is killed after half a second", async (t) => {
  const token = crypto.randomUUID();
  const { ended } = await startMarked(token, [
    "sh",
    "-c",
    "trap '' TERM; echo up; sleep 30 & wait; sleep 30",
  ]);
  const startedAtMs = performance.now();
  await stopMarked(token);
  t.ok(performance.now() - startedAtMs >= 500);
  t.ok(performance.now() - startedAtMs < 3_000);
  t.strictSame(await ended, [null, "SIGKILL"]);
});

test("a child whose leader has gone is found as well", async (t) => {
  const token = crypto.randomUUID();
  const pidFile = join(t.testdir(), "pids");
  const fixture = join(import.meta.dirname, "fixtures/leaves-child.sh");
  const child = spawn(fixture, [pidFile], {
    detached: true,
    // A long environment, as tap's, is read in pieces, the rest of which is gone once the child has become `sleep`.
    env: { PATH: process.env.PATH, ...markOf(token) },
    stdio: "ignore",
  });
  await once(child, "exit");
  const pid = readFileSync(pidFile, "utf8").trim();
  t.match(readFileSync(`/proc/${pid}/environ`, "latin1"), token);
  await stopMarked(token);
  t.equal(isAlive(pid), false);
});

test("a token that nobody carries is settled at once", async (t) => {
  await stopMarked(crypto.randomUUID());
  t.end();
});
