import { once } from "node:events";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "tap";
import type { PodmanClient } from "../../../../adapters/podman/client.ts";
import { readLogs } from "../../../../adapters/podman/logs/logs.ts";
import { replyOf } from "../samples.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** Creates a client of a Podman whose container prints nothing, and whose connections end when aborted. */
function createSilentClient() {
  const open = new Set<string>();
  // biome-ignore lint/correctness/useYield: it yields nothing
  async function* silence(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    if (path.includes("follow=true")) {
      open.add(path);
      await once(signal, "abort");
      open.delete(path);
      signal.throwIfAborted();
    }
  }
  const client: PodmanClient = {
    text: async () => replyOf("createdContainer"),
    change: async () => false,
    stream: async (_, path, signal) => silence(path, signal),
    close: async () => {},
  };
  return { client, open };
}

test("follows a log until a time that exceeds the longest timer", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.UTC(2026, 10, 21) });
  t.teardown(() => mock.timers.reset());
  const { client, open } = createSilentClient();
  const untilNs = BigInt(Date.now() + 40 * dayMs) * 1_000_000n;
  const source = { client, onChange: () => () => {} };
  const logs = readLogs(source, "a".repeat(64), { follow: true, untilNs }, new AbortController().signal);
  t.strictSame(await logs.next(), { done: false, value: [] });
  const end = logs.next();
  while (open.size === 0) {
    await turn();
  }
  mock.timers.tick(30 * dayMs);
  await turn();
  t.equal(open.size, 1);
  mock.timers.tick(10 * dayMs + 1_000);
  t.strictSame(await end, { done: true, value: undefined });
  t.equal(open.size, 0);
});
