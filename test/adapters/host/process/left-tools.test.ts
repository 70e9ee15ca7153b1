import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { settleLeftCommands, settleLeftTools } from "../../../../adapters/host/process/left-tools.ts";
import type { RunOptions } from "../../../../adapters/host/process/run-options.ts";
import { setToolOwner } from "../../../../adapters/host/process/tool-mark.ts";

const skip = process.platform !== "linux" && "it needs proc(5)";

// This test must ignore tools left on this machine by others.
const owner = crypto.randomUUID();
setToolOwner(owner);

type Kind = Pick<RunOptions, "kind"> & { readonly isStoppable?: boolean };

/**
 * Starts `sh -c script` from a separate gateway process and kills that process once the script has written `started`.
 */
async function leaveTool(t: Test, script: string, { kind, isStoppable = false }: Kind): Promise<string> {
  const directory = t.testdir();
  const file = JSON.stringify(new URL("../../../../adapters/host/process/run.ts", import.meta.url).href);
  const argv = JSON.stringify(["sh", "-c", `cd ${directory}; echo $$ > pid; touch started; ${script}`]);
  const stop = isStoppable ? ", stop: new AbortController().signal" : "";
  const mark = JSON.stringify(
    new URL("../../../../adapters/host/process/tool-mark.ts", import.meta.url).href,
  );
  const code = `
    const [{ run }, { setToolOwner }] = [await import(${file}), await import(${mark})];
    setToolOwner("${owner}");
    await run(${argv}, { kind: "${kind}"${stop} });`;
  const gateway = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
  const ended = once(gateway, "exit");
  while (!existsSync(join(directory, "started"))) {
    await sleep(10);
  }
  const pid = pidIn(directory);
  t.teardown(() => {
    if (isAlive(pid)) {
      process.kill(-pid, "SIGKILL");
    }
  });
  // A tool is not touched while its gateway is running.
  await settleLeftTools();
  t.ok(isAlive(pid), "it runs as long as its gateway does");
  gateway.kill("SIGKILL");
  await ended;
  return directory;
}

function pidIn(directory: string): number {
  return Number(readFileSync(join(directory, "pid"), "utf8"));
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("stops a reading tool left by a dead gateway", { skip }, async (t) => {
  const directory = await leaveTool(t, "trap '' TERM; while :; do sleep 0.1; done", { kind: "read" });
  await settleLeftCommands({});
  t.notOk(isAlive(pidIn(directory)));
});

test("waits for a mutating tool left by a dead gateway", { skip }, async (t) => {
  const script = "trap 'touch term' TERM; while [ ! -e go ]; do sleep 0.05; done; touch done";
  const directory = await leaveTool(t, script, { kind: "mutate" });
  const waitedFor: string[] = [];
  const settled = settleLeftTools({
    onWaiting(tools) {
      waitedFor.push(...tools.map(({ pid }) => pid));
      writeFileSync(join(directory, "go"), "");
    },
  });
  await settled;
  t.ok(existsSync(join(directory, "done")));
  t.notOk(existsSync(join(directory, "term")), "it got no signal");
  t.ok(waitedFor.includes(String(pidIn(directory))), "the wait is reported");
});

test("frees the memory of the output of a tool that is waited for", { skip }, async (t) => {
  const script = `
    while [ ! -e left ]; do sleep 0.05; done
    head -c 20000000 /dev/zero; touch filled
    while [ ! -e more ]; do sleep 0.05; done
    head -c 20000000 /dev/zero >&2; echo end; touch again
    while [ ! -e go ]; do sleep 0.05; done`;
  const directory = await leaveTool(t, script, { kind: "mutate" });
  const pid = pidIn(directory);
  const memoryOf = (fd: number) => statSync(`/proc/${pid}/fd/${fd}`).blocks * 512;
  const untilThere = async (file: string) => {
    while (!existsSync(join(directory, file))) {
      await sleep(10);
    }
  };
  // Not before: its own gateway would free the memory, too.
  writeFileSync(join(directory, "left"), "");
  await untilThere("filled");
  t.ok(memoryOf(1) > 10_000_000, "it grows while there is no gateway");
  const settled = settleLeftTools();
  for (const [fd, file] of [
    [1, "more"],
    [2, "go"],
  ] as const) {
    while (memoryOf(fd) > 100_000) {
      await sleep(10);
    }
    t.ok(isAlive(pid));
    writeFileSync(join(directory, file), "");
    if (file === "more") {
      await untilThere("again");
    }
  }
  await settled;
  t.notOk(isAlive(pid));
});

test("a wait for a mutating tool can be cancelled", { skip }, async (t) => {
  const directory = await leaveTool(t, "sleep 300", { kind: "mutate" });
  await settleLeftTools({ signal: AbortSignal.timeout(100) });
  t.ok(isAlive(pidIn(directory)));
});

test("ignores a tool of another owner", { skip }, async (t) => {
  const directory = await leaveTool(t, "sleep 300", { kind: "read" });
  setToolOwner("other");
  await settleLeftTools();
  setToolOwner(owner);
  t.ok(isAlive(pidIn(directory)));
});

test("asks an interruptible tool to stop, and waits for it", { skip }, async (t) => {
  const script = "trap 'sleep 0.3; touch stopped; exit 0' TERM; while :; do sleep 0.05; done";
  const directory = await leaveTool(t, script, { kind: "mutate", isStoppable: true });
  await settleLeftCommands({});
  t.ok(isAlive(pidIn(directory)), "other changes run beside it");
  await settleLeftTools();
  t.ok(existsSync(join(directory, "stopped")));
});

test("does not wait for a daemon that a tool has started", { skip }, async (t) => {
  const script = "setsid sleep 300 < /dev/null > /dev/null 2>&1 & echo $! > daemon; sleep 0.5";
  const directory = await leaveTool(t, script, { kind: "mutate" });
  await settleLeftTools();
  const daemon = Number(readFileSync(join(directory, "daemon"), "utf8"));
  t.ok(isAlive(daemon));
  process.kill(daemon, "SIGKILL");
});
