import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { run } from "../../../../adapters/host/process/run.ts";
import type { RunOptions } from "../../../../adapters/host/process/run-options.ts";
import type { ToolEnd } from "../../../../adapters/host/process/tool-result.ts";
import { rpcReasons } from "../../../../server/rpc/reasons.ts";
import { until } from "../../../server/harness/until.ts";
import { reasonOf } from "../reason-of.ts";

const read = { kind: "read", timeoutMs: 20_000 } as const;

function sh(script: string): string[] {
  return ["/bin/sh", "-c", script];
}

function fixture(name: string, ...args: string[]): string[] {
  return [join(import.meta.dirname, "fixtures", name), ...args];
}

function pidsIn(file: string): number[] {
  return readFileSync(file, "utf8").trim().split(" ").map(Number);
}

/** A zombie counts as dead, since a container may have no init that reaps orphans. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

/** Returns the rejection of `run`, and the tool's end as an observer sees it. */
async function failureOf(argv: string[], options: RunOptions): Promise<{ error: InfraError; end: ToolEnd }> {
  const ends: ToolEnd[] = [];
  const error: unknown = await run(argv, { ...options, onToolEnd: (end) => ends.push(end) }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const [end] = ends;
  if (!(error instanceof InfraError) || end === undefined || ends.length !== 1) {
    throw new Error(`expected one InfraError and one end, got ${String(error)} and ${ends.length}`);
  }
  return { error, end };
}

test("the result has the tool's output, exit code and duration, whatever the exit code", async (t) => {
  const ends: ToolEnd[] = [];
  const argv = sh("printf out; printf err >&2; exit 5");
  const result = await run(argv, { ...read, onToolEnd: (end) => ends.push(end) });
  t.match(result, { argv, exitCode: 5, signal: null, stdout: "out", stderr: "err" });
  t.ok(result.durationMs > 0);
  t.match(ends, [{ kind: "read", exitCode: 5, stderr: "err", stdoutBytes: 3, failure: undefined }]);
});

test("the result of a tool ended by a signal has the signal", async (t) => {
  t.match(await run(sh("kill -KILL $$"), read), { exitCode: null, signal: "SIGKILL" });
});

test("arguments reach the tool unchanged, without a shell", async (t) => {
  const argument = "a b; $(touch /nowhere) `x` \"'\\ * \n é";
  t.equal((await run(["printf", "%s", argument], read)).stdout, argument);
});

test("the environment is small and its locale is C", async (t) => {
  process.env.HOSTPLANE_TEST_SECRET = "must stay here";
  const { stdout } = await run(["env"], { ...read, env: { LVM_SYSTEM_DIR: "/x", LC_ALL: "de_DE.UTF-8" } });
  const names = [...stdout.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? "");
  // The test runner adds its own to every process that is started.
  const ours = names.filter((name) => !/^(NODE_OPTIONS|_TAPJS_.*|HOME)$/.test(name));
  t.strictSame(ours.sort(), ["HOSTPLANE_TOOL", "LC_ALL", "LVM_SYSTEM_DIR", "PATH"]);
  t.match(stdout, /^LC_ALL=C$/m);
  t.match(stdout, /^PATH=.*\/usr\/sbin/m);
});

test("stdin is empty, or the given bytes", async (t) => {
  t.equal((await run(["cat"], read)).stdout, "");
  t.equal((await run(["cat"], { ...read, input: Buffer.from("given") })).stdout, "given");
  const megabyte = Buffer.alloc(1 << 20, "x");
  t.equal(
    (await run(sh("exec 0<&-; exit 3"), { ...read, input: megabyte })).exitCode,
    3,
    "an unread stdin is no error",
  );
});

test("the tool leads its own process group", async (t) => {
  const { stdout } = await run(sh("cat /proc/$$/stat"), read);
  const [pid, , , , processGroup, session] = stdout.split(" ");
  t.equal(processGroup, pid);
  t.equal(session, pid);
});

test("a program that is missing or not executable is TOOL_MISSING", async (t) => {
  const missing = await failureOf(["hostplane-no-such-tool"], read);
  t.equal(missing.error.reason, "TOOL_MISSING");
  t.equal(missing.end.failure, "TOOL_MISSING");
  t.equal((await failureOf([import.meta.filename], { kind: "mutate" })).error.reason, "TOOL_MISSING");
});

test("a program that the system refuses to start is TOOL_FAILED", async (t) => {
  t.equal((await failureOf(["echo", "a\0b"], read)).error.reason, "TOOL_FAILED");
});

test("a reading tool is gone with its whole group after its caller has left", async (t) => {
  const pidFile = join(t.testdir(), "pids");
  const controller = new AbortController();
  const ended = failureOf(fixture("forks-and-ignores-sigterm.sh", pidFile), {
    kind: "read",
    signal: controller.signal,
  });
  await until(() => existsSync(pidFile));
  const pids = pidsIn(pidFile);
  t.same(pids.map(isAlive), [true, true]);
  controller.abort();
  const { error, end } = await ended;
  t.equal(error.reason, "CALLER_LEFT");
  t.equal(end.signal, "SIGKILL");
  await until(() => !pids.some(isAlive));
});

test("a descendant that ignores SIGTERM is killed even if the tool itself obeys", async (t) => {
  const pidFile = join(t.testdir(), "pids");
  const argv = sh(
    `(trap '' TERM; sleep 300 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait) & wait`,
  );
  const controller = new AbortController();
  const ended = failureOf(argv, { kind: "read", signal: controller.signal });
  await until(() => existsSync(pidFile));
  controller.abort();
  t.equal((await ended).end.signal, "SIGTERM");
  await until(() => !pidsIn(pidFile).some(isAlive));
});

test("an InfraError as the signal's reason is the error", async (t) => {
  const deadline = new InfraError(rpcReasons.DEADLINE, "too late");
  const late = failureOf(["sleep", "30"], { kind: "read", signal: AbortSignal.timeout(50) });
  t.equal((await late).error.reason, "CALLER_LEFT");
  const controller = new AbortController();
  const ended = failureOf(["sleep", "30"], { kind: "read", signal: controller.signal });
  controller.abort(deadline);
  t.equal((await ended).error, deadline);
});

test("nothing is started if the caller has already left", async (t) => {
  const file = join(t.testdir(), "started");
  t.equal(await reasonOf(run(["touch", file], { kind: "read", signal: AbortSignal.abort() })), "CALLER_LEFT");
  await sleep(100);
  t.notOk(existsSync(file));
});

test("a reading tool that is too slow is TOOL_TIMEOUT", async (t) => {
  const { error, end } = await failureOf(["sleep", "30"], { kind: "read", timeoutMs: 50 });
  t.equal(error.reason, "TOOL_TIMEOUT");
  t.equal(end.signal, "SIGTERM");
});

test("a reading tool that prints 100 MB is stopped at the limit", async (t) => {
  const argv = ["head", "-c", "104857600", "/dev/zero"];
  const { error, end } = await failureOf(argv, { kind: "read", maxStdoutBytes: 1_000_000 });
  t.equal(error.reason, "TOOL_OUTPUT");
  t.ok(end.stdoutBytes < 10_000_000, "it was not read to its end");
});

test("a mutating tool that prints 100 MB runs to completion, and only the first bytes are kept", async (t) => {
  const argv = sh("head -c 104857600 /dev/zero; echo done >&2");
  const ends: ToolEnd[] = [];
  const result = await run(argv, {
    kind: "mutate",
    maxStdoutBytes: 1_000,
    onToolEnd: (end) => ends.push(end),
  });
  t.match(result, { exitCode: 0, stderr: "done\n" });
  t.equal(result.stdout.length, 1_000);
  t.equal(ends[0]?.stdoutBytes, 104_857_600);
});

test("a mutating tool with much output uses little memory while it runs", async (t) => {
  // Half a MiB every 20 ms.
  const script =
    "for i in $(seq 100); do head -c 524288 /dev/zero; sleep 0.02; done; stat -Lc %b /proc/$$/fd/1 >&2";
  const { exitCode, stderr } = await run(sh(script), { kind: "mutate", maxStdoutBytes: 1_000 });
  t.equal(exitCode, 0);
  const heldBytes = Number(stderr) * 512;
  t.ok(heldBytes < 40_000_000, `${heldBytes} of 52,428,800 bytes are in memory`);
});

test("a mutating tool runs to completion when the gateway and its process group are killed", async (t) => {
  const directory = t.testdir();
  // More than a pipe's capacity, on both, from a program that exits when it cannot print.
  const script = `
    echo $$ > ${directory}/started
    while [ ! -e ${directory}/go ]; do sleep 0.02; done
    set -e
    head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2
    touch ${directory}/done`;
  const code = `
    import { run } from ${JSON.stringify(new URL("../../../../adapters/host/process/run.ts", import.meta.url).href)};
    await run(["sh", "-c", ${JSON.stringify(script)}], { kind: "mutate" });`;
  const gateway = spawn(process.execPath, ["--input-type=module", "-e", code], {
    detached: true,
    stdio: "inherit",
  });
  const ended = once(gateway, "exit");
  await until(() => existsSync(join(directory, "started")));
  process.kill(-(gateway.pid ?? 0), "SIGKILL");
  await ended;
  writeFileSync(join(directory, "go"), "");
  await until(() => existsSync(join(directory, "done")));
});

test("the last bytes of stderr are kept", async (t) => {
  const result = await run(sh("head -c 1000000 /dev/zero >&2; echo why >&2"), { kind: "mutate" });
  t.equal(result.stderr.length, 16 * 1024);
  t.match(result.stderr, /why\n$/);
});

test("the run of a tool that closes its output early ends when it exits", async (t) => {
  const result = await run(sh("echo one; exec >&- 2>&-; sleep 0.2; exit 4"), { kind: "mutate" });
  t.match(result, { exitCode: 4, stdout: "one\n" });
  t.ok(result.durationMs >= 200);
});

test("when a reading tool exits before a child that has its output open, the run ends and the child is killed", async (t) => {
  const pidFile = join(t.testdir(), "pid");
  const result = await run(fixture("leaves-child.sh", pidFile), read);
  t.match(result, { exitCode: 7, stdout: "early\n" });
  t.ok(result.durationMs < 60_000);
  await until(() => !pidsIn(pidFile).some(isAlive));
});

test("a child that outlives a mutating tool is not killed", async (t) => {
  const pidFile = join(t.testdir(), "pid");
  const result = await run(fixture("leaves-child.sh", pidFile), { kind: "mutate" });
  t.match(result, { exitCode: 7, stdout: "early\n" });
  await sleep(700);
  const [pid] = pidsIn(pidFile);
  t.ok(pid !== undefined && isAlive(pid));
  if (pid !== undefined) {
    process.kill(pid, "SIGKILL");
  }
});

test("a thousand tools leave no listener, timer, process or file descriptor behind", async (t) => {
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const controller = new AbortController();
  await run(["true"], read);
  const before = { descriptors: descriptors(), timers: activeTimers() };
  for (let round = 0; round < 50; round += 1) {
    const tools = Array.from({ length: 20 }, () => run(["true"], { ...read, signal: controller.signal }));
    await Promise.all(tools);
  }
  t.equal(getEventListeners(controller.signal, "abort").length, 0);
  await until(() => descriptors() <= before.descriptors);
  t.equal(activeTimers(), before.timers, "no timer");
  const { stdout } = await run(["ps", "-o", "stat=", "--ppid", String(process.pid)], read);
  t.notMatch(stdout, /^Z/m, "no zombie");
});
