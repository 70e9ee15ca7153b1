import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { messagesOf, nextLines, nextPrinted, readLogs, wordsOf } from "./read-logs.ts";
import { createRuntimeUnderTest, podUuid } from "./runtime-under-test.ts";

const request = { podId: podUuid, follow: true };

async function untilTrue(isReached: () => boolean): Promise<void> {
  while (!isReached()) {
    await turn();
  }
}

test("apps created later in the pod are read too", async (t) => {
  const runtime = createRuntimeUnderTest();
  const logs = readLogs(runtime, request);
  t.strictSame(await nextLines(logs), [], "a pod without apps");
  runtime.setApp("one", "running");
  runtime.print("one", { text: "a" });
  t.strictSame(await nextLines(logs), ["a"]);
  runtime.print("two", { text: "b" });
  runtime.setApp("two", "running");
  t.strictSame(await nextLines(logs), ["b"]);
  runtime.removeApp("two");
  runtime.print("one", { text: "c" });
  t.strictSame(await nextLines(logs), ["c"]);
  runtime.removePod();
  t.equal(await nextLines(logs), undefined);
  t.equal(runtime.readers(), 0);
  t.equal(runtime.subscribers(), 0);
});

test("lines that arrive together are one message, ordered by time", async (t) => {
  const runtime = createRuntimeUnderTest();
  for (const app of ["one", "two"]) {
    runtime.setApp(app, "running");
    runtime.print(app, { text: `${app} earlier`, timeNs: app === "one" ? 9n : 5n });
  }
  const logs = readLogs(runtime, request);
  t.strictSame(await nextLines(logs), ["two earlier", "one earlier"]);
  const next = nextLines(logs);
  runtime.print("one", { text: "1", timeNs: 30n }, { text: "2", timeNs: 40n });
  runtime.print("two", { text: "3", timeNs: 35n });
  t.strictSame(await next, ["1", "3", "2"]);
  await logs.return();
  t.equal(runtime.subscribers(), 0);
});

test("a silence is marked by empty messages without losing lines, and the caller can disconnect during one", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  runtime.print("one", { text: "a" });
  // The gateway's timers do not keep the process alive, and nothing else runs here.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const logs = readLogs(runtime, request, undefined, { silenceMs: 10 });
  t.strictSame(await nextPrinted(logs), ["a"]);
  t.strictSame([await nextLines(logs), await nextLines(logs)], [[], []]);
  runtime.print("one", { text: "b" });
  t.strictSame(await nextPrinted(logs), ["b"]);
  t.strictSame(await nextLines(logs), []);
  await logs.return();
  t.equal(runtime.readers(), 0);
  t.equal(runtime.subscribers(), 0);
});

test("an unfinished line is sent when its program has exited", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  runtime.print("one", { text: "half", endsLine: false });
  const logs = readLogs(runtime, request);
  t.strictSame(await nextLines(logs), []);
  const next = nextLines(logs);
  runtime.print("one", { text: " done", endsLine: true });
  t.strictSame(await next, ["half done"]);
  runtime.print("one", { text: "last words", endsLine: false });
  const last = nextLines(logs);
  await turn();
  runtime.setApp("one", "exited");
  t.strictSame(await last, ["last words"]);
  runtime.print("one", { text: "again", endsLine: false });
  runtime.removePod();
  t.strictSame((await messagesOf(logs)).flatMap(wordsOf), ["again"]);
  t.strictSame(
    await messagesOf(readLogs(createOnce("half"), { podId: podUuid })).then((all) => all.map(wordsOf)),
    [["half"]],
    "without follow it is sent with the rest",
  );
});

function createOnce(text: string) {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  runtime.print("one", { text, endsLine: false });
  return runtime;
}

test("an app whose output is not kept is reported, and rejected if it is the only one requested", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  runtime.setApp("silent", "running");
  runtime.print("one", { text: "a", timeNs: 1n });
  const words = ["a", "hostplane: the logs of app silent are not kept"];
  t.strictSame((await messagesOf(readLogs(runtime, { podId: podUuid }))).map(wordsOf), [words]);
  const logs = readLogs(runtime, request);
  t.strictSame(await nextLines(logs), words);
  runtime.print("one", { text: "b" });
  t.strictSame(await nextLines(logs), ["b"]);
  await logs.return();
  for (const follow of [true, false]) {
    const alone = messagesOf(readLogs(runtime, { ...request, follow, appName: "silent" }));
    t.equal(await reasonOf(alone), "LOGS_UNAVAILABLE");
  }
});

test("an unavailable runtime does not count as a removed pod", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  const logs = readLogs(runtime, request);
  await logs.next();
  const next = nextLines(logs);
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "away"));
  await turn();
  runtime.setOutage(undefined);
  runtime.print("one", { text: "still there" });
  t.strictSame(await next, ["still there"]);
  await logs.return();
});

test("nothing is read for a caller that does not read", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  const logs = readLogs(runtime, request);
  await logs.next();
  const next = nextLines(logs);
  for (let count = 0; count < 100; count += 1) {
    runtime.print("one", { text: `${count}` });
  }
  await next;
  await turn();
  t.ok(runtime.takenOf("one") <= 3, `${runtime.takenOf("one")} batches were read`);
  await logs.return();
  await untilTrue(() => runtime.readers() === 0);
});

test("a caller that disconnects during a change of the pod leaves no subscription behind", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  const logs = readLogs(runtime, request);
  await logs.next();
  const next = nextLines(logs);
  await untilTrue(() => runtime.subscribers() === 1);
  runtime.print("one", { text: "a" });
  t.strictSame(await next, ["a"]);
  // Before the caller requests more.
  runtime.setApp("one", "paused");
  for (let wait = 0; wait < 20; wait += 1) {
    await turn();
  }
  logs.leave(new Error("left"));
  await logs.return();
  await turn();
  t.equal(runtime.subscribers(), 0);
  t.equal(runtime.readers(), 0);
});

test("a log can be followed until a time beyond the maximum of a timer", async (t) => {
  const dayMs = 24 * 60 * 60 * 1_000;
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.UTC(2026, 10, 21) });
  t.teardown(() => mock.timers.reset());
  const runtime = createRuntimeUnderTest();
  const logs = readLogs(runtime, { ...request, untilTime: BigInt(Date.now() + 40 * dayMs) / 1_000n });
  t.strictSame(await nextLines(logs), []);
  const next = nextPrinted(logs);
  await untilTrue(() => runtime.subscribers() === 1);
  mock.timers.tick(30 * dayMs);
  await turn();
  runtime.print("one", { text: "a" });
  runtime.setApp("one", "running");
  t.strictSame(await next, ["a"]);
  const last = nextPrinted(logs);
  mock.timers.tick(10 * dayMs);
  runtime.removeApp("one");
  t.equal(await last, undefined);
});

test("all existing lines are sent in as many messages as needed, or the newest ones in one message", async (t) => {
  const runtime = createRuntimeUnderTest();
  runtime.setApp("one", "running");
  for (let count = 0; count < 50; count += 1) {
    runtime.print("one", { text: `${count} ${"x".repeat(100)}` });
  }
  const logs = readLogs(runtime, request, 2_048);
  const numbers: number[] = [];
  let messages = 0;
  while (numbers.length < 50) {
    numbers.push(...((await nextLines(logs)) ?? []).map((line) => Number.parseInt(line, 10)));
    messages += 1;
  }
  t.strictSame(
    numbers,
    numbers.map((_, at) => at),
  );
  t.ok(messages > 3);
  await logs.return();
  const newest = readLogs(runtime, { ...request, lines: 40 }, 2_048);
  const [notice, ...lines] = (await nextLines(newest)) ?? [];
  t.match(notice, new RegExp(`^hostplane: ${40 - lines.length} earlier lines do not fit`));
  t.match(lines.at(-1), /^49 /);
  const next = nextLines(newest);
  runtime.print("one", { text: "new" });
  t.strictSame(await next, ["new"]);
  await newest.return();
});

test("a line belongs to the second in which it ended", async (t) => {
  const runtime = createRuntimeUnderTest();
  const second = 1_000_000_000n;
  runtime.setApp("one", "running");
  runtime.print(
    "one",
    { text: "a", timeNs: 9n * second },
    { text: "begun, ", timeNs: 9n * second, endsLine: false },
  );
  runtime.print("one", { text: "ended", timeNs: 10n * second }, { text: "b", timeNs: 10n * second });
  for (const follow of [true, false]) {
    const logs = readLogs(runtime, { ...request, follow, sinceTime: 10n });
    t.strictSame(await nextLines(logs), ["begun, ended", "b"]);
    await logs.return();
  }
  const all = readLogs(runtime, { podId: podUuid, sinceTime: 9n });
  t.strictSame(await nextLines(all), ["a", "begun, ended", "b"]);
});
