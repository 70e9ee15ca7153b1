import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { test } from "tap";
import { filePosition } from "../../../../adapters/host/process/file-position.ts";
import { loadPosixSpawn } from "../../../../adapters/host/process/posix-spawn.ts";
import { startByFork } from "../../../../adapters/host/process/start-by-fork.ts";
import { createStartByPosixSpawn } from "../../../../adapters/host/process/start-by-posix-spawn.ts";
import type {
  ProcessOptions,
  StartProcess,
  ToolProcess,
} from "../../../../adapters/host/process/tool-process.ts";

const PATH = process.env.PATH ?? "/usr/bin:/bin";

/** Result of a tool: exit, output, and the callbacks in order. */
interface Ended {
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null;
  readonly failure?: NodeJS.ErrnoException;
  readonly stdout: string;
  readonly stderr: string;
  readonly reported: readonly string[];
}

interface Started {
  readonly child: ToolProcess;
  readonly ended: Promise<Ended>;
}

type Options = Partial<Pick<ProcessOptions, "env" | "stdin" | "stdout">>;

function begin(start: StartProcess, argv: readonly string[], options: Options = {}): Started {
  const reported: string[] = [];
  const { promise, resolve } = Promise.withResolvers<Partial<Ended>>();
  let exit = {};
  const [program = "", ...args] = argv;
  const child = start(program, args, {
    env: { PATH },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...options,
    onFailure(cause) {
      reported.push("failure");
      resolve({ failure: cause as NodeJS.ErrnoException });
    },
    onExit(code, signal) {
      reported.push("exit");
      exit = { code, signal };
    },
    onClose() {
      reported.push("close");
      resolve(exit);
    },
  });
  // The output is complete at the close; a released pipe delivers no more.
  const text = async (stream: ToolProcess["stdout"]) =>
    stream === null ? "" : (await buffer(stream).catch(() => Buffer.alloc(0))).toString();
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  return {
    child,
    ended: promise.then(async (end) => ({
      ...end,
      stdout: await stdout,
      stderr: await stderr,
      reported,
    })),
  };
}

const descriptors = () => readdirSync("/proc/self/fd").length;

const posixSpawn = process.platform === "linux" ? createStartByPosixSpawn(loadPosixSpawn()) : undefined;
const starts: readonly (readonly [string, StartProcess])[] = [
  ["child_process", startByFork],
  ...(posixSpawn === undefined ? [] : [["posix_spawn", posixSpawn] as const]),
];

for (const [name, start] of starts) {
  const ended = (argv: readonly string[], options?: Options) => begin(start, argv, options).ended;
  const sh = (script: string, options?: Options) => ended(["/bin/sh", "-c", script], options);

  test(`${name}: a tool's output is complete, and its exit is reported before the close`, async (t) => {
    const end = await sh("printf out; printf err >&2; exit 5");
    t.match(end, { code: 5, signal: null, stdout: "out", stderr: "err", reported: ["exit", "close"] });
    const early = await sh("exec >&- 2>&-; sleep 0.1; exit 6");
    t.match(early, { code: 6, reported: ["exit", "close"] });
    const late = await sh("(sleep 0.2; echo late) & exit 7");
    t.match(late, { code: 7, stdout: "late\n", reported: ["exit", "close"] });
    t.equal((await sh("head -c 3000000 /dev/zero")).stdout.length, 3_000_000);
  });

  test(`${name}: every exit code is reported`, async (t) => {
    const codes = Array.from({ length: 256 }, (_, code) => code);
    const ends = await Promise.all(codes.map((code) => sh(`exit ${code}`)));
    t.same(
      ends.map(({ code }) => code),
      codes,
    );
  });

  test(`${name}: no signal is ignored or blocked in a tool, and the one that ends it is reported`, async (t) => {
    for (const signal of ["PIPE", "TERM", "KILL", "USR1", "ABRT", "IO", "CHLD"]) {
      const { code, signal: reported } = await sh(`kill -${signal} $$; sleep 0`);
      t.equal(reported ?? code, signal === "CHLD" ? 0 : `SIG${signal}`);
    }
    const { stdout } = await ended(["cat", "/proc/self/status"]);
    t.match(stdout, /^SigBlk:\s+0+$/m);
    // glibc leaves its two internal signals, 32 and 33, ignored.
    t.match(stdout, /^SigIgn:\s+0+(180000000)?$/m);
  });

  test(`${name}: a tool leads its session and its process group`, async (t) => {
    const { stdout } = await sh("echo $$ $(ps -o pid=,pgid=,sid=,ppid= -p $$)");
    const [reported, pid, group, session, parent] = stdout.trim().split(/ +/).map(Number);
    t.same([pid, group, session, parent], [reported, reported, reported, process.pid]);
  });

  test(`${name}: a tool has the three descriptors and no others`, async (t) => {
    const list = ["ls", "/proc/self/fd"];
    const inherited = (await ended(list)).stdout;
    const file = await open(import.meta.filename, "r");
    t.teardown(() => file.close());
    const others = Array.from({ length: 10 }, () => sh("sleep 0.1", { stdin: "pipe" }));
    t.equal((await ended(list)).stdout, inherited);
    t.equal((await ended(list, { stdin: file.fd })).stdout, inherited);
    t.equal((await ended(["readlink", "/proc/self/fd/0"])).stdout, "/dev/null\n");
    await Promise.all(others);
  });

  test(`${name}: a tool has the given environment and nothing else`, async (t) => {
    const env = { PATH, EMPTY: "", WITH: "a=b c\nd", "N-1": "é ✓" };
    const { stdout } = await ended(["cat", "/proc/self/environ"], { env });
    const names = stdout.split("\0").filter((line) => !/^(NODE_OPTIONS=|_TAPJS_|$)/.test(line));
    t.same(
      names.sort(),
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}`)
        .sort(),
    );
  });

  test(`${name}: arguments, even long ones, reach a tool unchanged`, async (t) => {
    const args = ["", "a b", "'\"\\$(x)`*\n", "é ✓ 𝄞", "-"];
    const { stdout } = await ended(["printf", "%s|", ...args]);
    t.equal(stdout, `${args.join("|")}|`);
    const long = Array.from({ length: 10 }, () => "x".repeat(100_000));
    t.equal((await ended(["printf", "%s", ...long])).stdout.length, 1_000_000);
  });

  test(`${name}: written data becomes a tool's stdin`, async (t) => {
    const { child, ended } = begin(start, ["wc", "-c"], { stdin: "pipe" });
    child.stdin?.end(Buffer.alloc(2_000_000));
    t.equal((await ended).stdout.trim(), "2000000");
    const early = begin(start, ["sh", "-c", "exec 0<&-; exit 3"], { stdin: "pipe" });
    early.child.stdin?.on("error", () => {});
    early.child.stdin?.end(Buffer.alloc(2_000_000));
    t.equal((await early.ended).code, 3);
  });

  test(`${name}: open files become a tool's stdin and stdout, and may be closed at once`, async (t) => {
    const directory = t.testdir({ source: "x".repeat(100_000), target: "" });
    const [from, to] = [join(directory, "source"), join(directory, "target")];
    const [source, target, place] = [await open(from, "r"), await open(to, "r+"), await open(from, "r")];
    const { child, ended } = begin(start, ["cat"], { stdin: source.fd, stdout: target.fd });
    t.equal(child.stdout, null);
    await Promise.all([source.close(), target.close()]);
    t.equal((await ended).code, 0);
    t.equal((await readFile(to)).length, 100_000);
    await begin(start, ["sh", "-c", "head -c 4000 >/dev/null"], { stdin: place.fd }).ended;
    t.ok((await filePosition(place)) >= 4_000, "the position in the file is shared");
    await place.close();
  });

  test(`${name}: a program that cannot be started fails with Node's error, and leaves nothing open`, async (t) => {
    const directory = t.testdir({ plain: "text", tool: "text" });
    const before = descriptors();
    // A refusal by the system is thrown or reported.
    const failureOf = async (argv: readonly string[], env: ProcessOptions["env"]) => {
      try {
        const { failure, reported } = await ended(argv, { env, stdin: "pipe" });
        t.same(reported, ["failure"]);
        return failure;
      } catch (thrown) {
        return thrown;
      }
    };
    for (const [argv, env, code] of [
      [["hostplane-no-such-tool"], { PATH }, "ENOENT"],
      [["/nowhere/tool"], { PATH }, "ENOENT"],
      [[join(directory, "plain")], { PATH }, "EACCES"],
      [["tool"], { PATH: `${directory}:/nowhere` }, "EACCES"],
      [[directory], { PATH }, "EACCES"],
      [[`${join(directory, "plain")}/tool`], { PATH }, "ENOTDIR"],
    ] as const) {
      const failure = await failureOf(argv, env);
      t.match(failure, { code, message: /^spawn/, syscall: /^spawn/, errno: Number }, argv[0]);
    }
    const huge = Array.from({ length: 40 }, () => "x".repeat(100_000));
    t.match(await failureOf(["true", ...huge], { PATH }), { code: "E2BIG" });
    t.throws(() => begin(start, ["echo", "a\0b"]), { code: "ERR_INVALID_ARG_VALUE" });
    t.throws(() => begin(start, ["env"], { env: { PATH, A: "a\0b" } }), { code: "ERR_INVALID_ARG_VALUE" });
    t.throws(() => begin(start, [""]), { code: "ERR_INVALID_ARG_VALUE" });
    await new Promise(setImmediate);
    t.equal(descriptors(), before);
  });

  test(`${name}: a program is looked up in the given PATH`, async (t) => {
    const directory = t.testdir({ "not-it": { uname: "text" } });
    const path = `/nowhere:${import.meta.filename}:${join(directory, "not-it")}:${directory}`;
    execFileSync("ln", ["-s", "/bin/echo", join(directory, "uname")]);
    t.equal((await ended(["uname", "found"], { env: { PATH: path } })).stdout, "found\n");
  });

  test(`${name}: a signal reaches the tool's group, even if sent at once`, async (t) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
      const { child, ended } = begin(start, ["sleep", "60"]);
      child.killGroup(signal);
      t.match(await ended, { code: null, signal, reported: ["exit", "close"] });
    }
    const { child, ended } = begin(start, ["sh", "-c", "sleep 60 & echo up; wait"]);
    child.stdout?.once("data", () => child.killGroup("SIGTERM"));
    t.match(await ended, { signal: "SIGTERM", reported: ["exit", "close"] });
    child.killGroup("SIGTERM");
  });

  test(`${name}: tools signalled at once, some before they were started, do nothing more`, async (t) => {
    const files = Array.from({ length: 20 }, (_, index) => join(t.testdirName, String(index)));
    t.testdir();
    const all = files.map((file) => begin(start, ["sh", "-c", 'sleep 30; echo > "$1"', "sh", file]));
    for (const { child } of all) {
      child.killGroup("SIGTERM");
    }
    const ends = await Promise.all(all.map(({ ended }) => ended));
    t.ok(ends.every(({ code, signal }) => code === null && signal === "SIGTERM"));
    t.same(readdirSync(t.testdirName), []);
  });

  test(`${name}: two hundred concurrent tools each report their own end`, async (t) => {
    const ends = await Promise.all(
      Array.from({ length: 200 }, (_, index) => sh(`echo ${index}; exit ${index % 7}`)),
    );
    for (const [index, { stdout, code }] of ends.entries()) {
      if (stdout !== `${index}\n` || code !== index % 7) {
        t.match({ stdout, code }, { stdout: `${index}\n`, code: index % 7 });
      }
    }
    t.equal(process.listenerCount("SIGCHLD"), 0);
  });

  test(`${name}: many starts leave no descriptor, process or listener behind`, async (t) => {
    const count = Number(process.env.TOOL_STARTS ?? 500);
    await sh("true");
    const before = { descriptors: descriptors(), rss: process.memoryUsage.rss() };
    for (let left = count; left > 0; left -= 20) {
      await Promise.all(Array.from({ length: 20 }, () => ended(["true"], { stdin: "pipe" })));
    }
    t.equal(descriptors(), before.descriptors);
    t.equal(process.listenerCount("SIGCHLD"), 0);
    t.comment(`${Math.round((process.memoryUsage.rss() - before.rss) / 2 ** 20)} MiB more`);
    t.equal(
      execFileSync("sh", ["-c", `ps -o stat= --ppid ${process.pid} | grep -c ^Z; true`]).toString(),
      "0\n",
    );
  });
}

test("both start methods report the ends of their own tools only", {
  skip: posixSpawn === undefined,
}, async (t) => {
  const all = await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      const [, start] = starts[index % starts.length] ?? [];
      return begin(start ?? startByFork, ["sh", "-c", `exit ${index}`]).ended;
    }),
  );
  t.same(
    all.map(({ code }) => code),
    Array.from({ length: 60 }, (_, index) => index),
  );
});

test("a worker thread, which receives no signals, can start tools as well", async (t) => {
  const file = new URL("../../../../adapters/host/process/run.ts", import.meta.url).href;
  const code = `
    const { run } = await import(${JSON.stringify(file)});
    const { parentPort } = await import("node:worker_threads");
    const { exitCode, stdout } = await run(["sh", "-c", "echo out; exit 3"], { kind: "read" });
    parentPort.postMessage({ exitCode, stdout });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [message] = await once(worker, "message");
  t.same(message, { exitCode: 3, stdout: "out\n" });
  await worker.terminate();
});
