import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import type { LogOptions, LogPiece } from "../../../../../adapters/podman/adapter.ts";
import { type AppLogOptions, appLog } from "../../../../../server/domains/pods/logs/app-log.ts";

const secondNs = 1_000_000_000n;

const piece = (text: string, endsLine: boolean, atSecond = 1): LogPiece => ({
  stream: "stdout",
  timeNs: BigInt(atSecond) * secondNs,
  bytes: Buffer.from(text),
  endsLine,
});

/** Returns the output of an app whose program has exited: each batch as lines, and when the log has caught up. */
async function batchesOf(
  logs: AppLogOptions["runtime"]["logs"],
  options: LogOptions,
  lineEndMs = 1_000,
): Promise<(string | readonly string[])[]> {
  const app = { id: "a".repeat(64), name: "one" };
  const given = { runtime: { logs }, app, options, isOnly: true, maxLineBytes: 1_000, lineEndMs };
  const batches: (string | readonly string[])[] = [];
  for await (const batch of appLog({ ...given, hasEnded: () => true }, new AbortController().signal)) {
    batches.push(batch === "caughtUp" ? batch : batch.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  return batches;
}

test("a line stays complete even if the runtime stalls while sending earlier output", async (t) => {
  const stallMs = 40;
  async function* stalling(_: string, { follow }: LogOptions) {
    yield [piece("first half, ", false)];
    await sleep(stallMs);
    yield [piece("second half", true)];
    if (follow === true) {
      yield [];
    }
  }
  t.strictSame(await batchesOf(stalling, {}, stallMs / 20), [["first half, second half"]]);
  t.strictSame(await batchesOf(stalling, { follow: true }, stallMs / 20), [
    ["first half, second half"],
    "caughtUp",
    "caughtUp",
  ]);
});

test("a program's last output may arrive some time after its exit", async (t) => {
  const lineEndMs = 40;
  async function* late() {
    yield [];
    yield [piece("first half, ", false)];
    await sleep(lineEndMs * 2.5);
    yield [piece("second half", true)];
  }
  t.strictSame(await batchesOf(late, { follow: true }, lineEndMs), [
    "caughtUp",
    ["first half, second half"],
    "caughtUp",
  ]);
});

test("in a followed log, the unfinished line of an exited program is sent when no more of it arrives", async (t) => {
  const ending = Promise.withResolvers<void>();
  async function* logs() {
    yield [piece("last words", false)];
    yield [];
    await ending.promise;
  }
  const app = { id: "a".repeat(64), name: "one" };
  const options = { follow: true };
  const log = appLog(
    { runtime: { logs }, app, options, isOnly: true, maxLineBytes: 100, lineEndMs: 5, hasEnded: () => true },
    new AbortController().signal,
  );
  t.strictSame(await log.next(), { done: false, value: "caughtUp" });
  t.match(await log.next(), { value: [{ bytes: Buffer.from("last words") }] });
  ending.resolve();
  await log.return();
});

test("a line that ends in the window contains its parts from the ten seconds before", async (t) => {
  const all = [piece("lost, ", false, 9), piece("begun, ", false, 10), piece("ended", true, 20)];
  const requests: (bigint | undefined)[] = [];
  async function* logs(_: string, { sinceNs = 0n }: LogOptions) {
    requests.push(sinceNs);
    yield all.filter(({ timeNs }) => timeNs >= sinceNs);
  }
  t.strictSame(await batchesOf(logs, { sinceNs: 20n * secondNs }), [["begun, ended"]]);
  t.strictSame(await batchesOf(logs, { sinceNs: secondNs }), [["lost, begun, ended"]]);
  t.strictSame(requests, [10n * secondNs, 0n]);
});
