import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { filePosition } from "../../../../adapters/host/process/file-position.ts";
import { run } from "../../../../adapters/host/process/run.ts";
import type { ToolEnd } from "../../../../adapters/host/process/tool-result.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import { operationReasons } from "../../../../server/operations/reasons.ts";
import { reasonOf } from "../reason-of.ts";

const read = { kind: "read", timeoutMs: 20_000 } as const;

test("open files become a tool's stdin and stdout, and show its progress", async (t) => {
  const directory = t.testdir({ source: "x".repeat(100_000), target: "" });
  const source = await open(join(directory, "source"), "r");
  const target = await open(join(directory, "target"), "r+");
  t.equal(await filePosition(source), 0);
  const { stdout, exitCode } = await run(["cat"], { ...read, input: source, output: target });
  t.equal(exitCode, 0);
  t.equal(stdout, "");
  t.equal(await filePosition(source), 100_000);
  t.equal(await filePosition(target), 100_000);
  await Promise.all([source.close(), target.close()]);
  t.equal(await readFile(join(directory, "target"), "utf8"), "x".repeat(100_000));
});

test("the file position is available while the tool runs, even behind a wrapper", async (t) => {
  const source = join(t.testdir(), "source");
  await writeFile(source, Buffer.alloc(1 << 20));
  const file = await open(source, "r");
  t.teardown(() => file.close());
  const controller = new AbortController();
  const script = "head -c 300000 >/dev/null; echo read; sleep 30";
  let reported = "";
  const running = run(["env", "sh", "-c", script], {
    ...read,
    input: file,
    signal: controller.signal,
    output: (chunk) => {
      reported += chunk;
      controller.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "seen"));
    },
  });
  t.equal(await reasonOf(running), "OPERATION_CANCELLED");
  t.equal(reported, "read\n");
  t.ok((await filePosition(file)) >= 300_000);
});

test("a function gets all of stdout, without a limit and without buffering", async (t) => {
  let bytes = 0;
  const { stdout } = await run(["head", "-c", "20000000", "/dev/zero"], {
    ...read,
    maxStdoutBytes: 10,
    output: (chunk) => {
      bytes += chunk.length;
    },
  });
  t.equal(bytes, 20_000_000);
  t.equal(stdout, "");
});

test("stderr is delivered as it arrives, and redacted for observers", async (t) => {
  const ends: ToolEnd[] = [];
  let reported = "";
  const { stderr } = await run(["sh", "-c", "echo secret >&2; exit 1"], {
    ...read,
    onStderr: (chunk) => {
      reported += chunk;
    },
    redact: (text) => text.replaceAll("secret", "***"),
    onToolEnd: (end) => ends.push(end),
  });
  t.equal(reported, "secret\n");
  t.equal(stderr, "secret\n");
  t.equal(ends[0]?.stderr, "***\n");
});

test("a tool is stopped with the configured signal", async (t) => {
  const controller = new AbortController();
  const ends: ToolEnd[] = [];
  const running = run(
    ["sh", "-c", "trap 'exit 42' INT; trap 'exit 43' TERM; echo up; while :; do sleep 0.05; done"],
    {
      ...read,
      signal: controller.signal,
      stopSignal: "SIGINT",
      output: () => controller.abort(),
      onToolEnd: (end) => ends.push(end),
    },
  );
  t.equal(await reasonOf(running), "CALLER_LEFT");
  t.equal(ends[0]?.exitCode, 42);
});

/** Yields `count` pieces of 64 KiB, then ends or fails. */
async function* pieces(
  count: number,
  requested: { bytes: number },
  failure?: Error,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) {
    requested.bytes += 65_536;
    yield Buffer.alloc(65_536, at);
  }
  if (failure !== undefined) {
    throw failure;
  }
}

test("a source becomes a tool's stdin at the tool's pace", async (t) => {
  const request = { bytes: 0 };
  const { stdout } = await run(["wc", "-c"], { ...read, input: pieces(200, request) });
  t.equal(stdout.trim(), String(200 * 65_536));
  const slow = { bytes: 0 };
  const script = "head -c 65536 >/dev/null; sleep 0.3; echo done";
  const { exitCode } = await run(["sh", "-c", script], { ...read, input: pieces(200, slow) });
  t.equal(exitCode, 0, "a tool need not read everything");
  t.ok(slow.bytes < 100 * 65_536, `${slow.bytes} bytes were read from the source`);
});

test("a tool whose source fails is stopped, and never sees the end of its input", async (t) => {
  const directory = t.testdir();
  const script = `cat >/dev/null; echo end > ${join(directory, "end")}`;
  const failing = (failure: Error) =>
    run(["sh", "-c", script], { ...read, input: pieces(3, { bytes: 0 }, failure) });
  t.equal(
    await reasonOf(failing(new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, "gone"))),
    "STORAGE_POOL_NOT_FOUND",
  );
  t.equal(await reasonOf(failing(new Error("whatever"))), "TOOL_FAILED");
  await t.rejects(readFile(join(directory, "end")));
});

test("a source is ended when its tool exits first", async () => {
  const left = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yield Buffer.alloc(65_536);
      }
    } finally {
      left.resolve();
    }
  }
  await run(["true"], { ...read, input: endless() });
  await left.promise;
});

test("a tool waits for a slow reader of its stdout, and no output is lost after its exit", async (t) => {
  let bytes = 0;
  let open = 0;
  await run(["head", "-c", "400000", "/dev/zero"], {
    ...read,
    output: async (chunk) => {
      open += 1;
      t.ok(open <= 2, "a chunk already received may still be delivered while the reader waits");
      bytes += chunk.length;
      // Longer than the wait for a descendant that has the pipe open.
      await sleep(bytes < 200_000 ? 400 : 0);
      open -= 1;
    },
  });
  t.equal(bytes, 400_000);
});

test("a failing reader of stdout stops the tool, and its failure is the error", async (t) => {
  const failure = new InfraError(hostReasons.NO_SPACE, "nowhere to put it");
  const failing: readonly ((chunk: Buffer) => void | Promise<void>)[] = [
    async () => {
      throw failure;
    },
    () => {
      throw failure;
    },
  ];
  for (const output of failing) {
    const error: unknown = await run(["yes"], { ...read, output }).catch((cause: unknown) => cause);
    t.equal(error, failure);
  }
  const other = run(["yes"], { ...read, output: () => Promise.reject(new Error("broken")) });
  await t.rejects(other, { reason: "TOOL_FAILED", cause: { message: "broken" } });
});
