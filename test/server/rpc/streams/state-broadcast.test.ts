import { getEventListeners } from "node:events";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { WatchResponseSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { createSharedAnswers, sharedMessageOf } from "../../../../server/rpc/streams/shared-answers.ts";
import type { SharedMessage } from "../../../../server/rpc/streams/shared-message.ts";
import { createStateBroadcast, type StateBroadcast } from "../../../../server/rpc/streams/state-broadcast.ts";
import { until } from "../../harness/until.ts";
import { createCall } from "../call/call-under-test.ts";

/** A numeric state, and its broadcast. */
function createState() {
  const listeners = new Set<() => void>();
  const answers = createSharedAnswers(WatchResponseSchema);
  const versions = new Map<SharedMessage | undefined, number>();
  let source = { version: 0 };
  let failure: Error | undefined;
  const messageOf = (read: typeof source) => {
    const message = answers.of(read, "", () => ({ freeBytes: BigInt(read.version) }));
    versions.set(sharedMessageOf(message), read.version);
    return message;
  };
  const notify = () => {
    for (const listener of listeners) {
      listener();
    }
  };
  const broadcast = createStateBroadcast({
    subscribe(onChange) {
      listeners.add(onChange);
      return () => {
        listeners.delete(onChange);
      };
    },
    async read() {
      if (failure !== undefined) {
        throw failure;
      }
      return messageOf(source);
    },
  });
  return {
    broadcast,
    listeners,
    versionOf: (message: SharedMessage | undefined) => versions.get(message),
    version: () => source.version,
    change() {
      source = { version: source.version + 1 };
      notify();
    },
    fail(error: Error | undefined) {
      failure = error;
      notify();
    },
  };
}

/** Starts a watcher over HTTP/2 that has its first message, and that reads everything unless it is slow. */
async function watchBy(broadcast: StateBroadcast, onWrite: (message: SharedMessage) => void) {
  const ending = new AbortController();
  const client = { isSlow: false, unsentBytes: 0 };
  const sink = {
    write(message: SharedMessage) {
      onWrite(message);
      client.unsentBytes = client.isSlow ? 100 : 0;
      return true;
    },
    get unsentBytes() {
      return client.unsentBytes;
    },
  };
  const messages = broadcast.watch({ ...createCall({ ending }), openSink: () => sink });
  const { value: first } = await messages.next();
  const end = messages.next();
  end.catch(() => {});
  return { client, ending, end, first: sharedMessageOf(first as object) };
}

test("a watcher gets the first state, then each newest one", async (t) => {
  const { broadcast, change, versionOf } = createState();
  const seen: (number | undefined)[] = [];
  const { first, ending } = await watchBy(broadcast, (message) => seen.push(versionOf(message)));
  t.equal(versionOf(first), 0);
  change();
  await until(() => seen.at(-1) === 1);
  change();
  change();
  await until(() => seen.at(-1) === 3);
  t.same(seen, seen.toSorted(), "never an older one");
  ending.abort();
});

test("a change between the first message and the sink is not lost", async () => {
  const { broadcast, change, versionOf } = createState();
  const seen: (number | undefined)[] = [];
  const sink = { unsentBytes: 0, write: (message: SharedMessage) => seen.push(versionOf(message)) > 0 };
  const messages = broadcast.watch({ ...createCall(), openSink: () => sink });
  await messages.next();
  change();
  messages.next().catch(() => {});
  await until(() => seen.at(-1) === 1);
});

test("a slow watcher gets nothing until it has read, then only the newest state", async (t) => {
  const { broadcast, change, versionOf } = createState();
  const seen: (number | undefined)[] = [];
  const { client } = await watchBy(broadcast, (message) => seen.push(versionOf(message)));
  client.isSlow = true;
  change();
  await until(() => seen.length === 1);
  for (let count = 0; count < 5; count += 1) {
    change();
    await delay(10);
  }
  t.same(seen, [1]);
  client.unsentBytes = 0;
  await until(() => seen.length > 1);
  t.same(seen, [1, 6]);
});

test("however many watchers and changes there are, other work gets turns, and half of the time", async (t) => {
  const { broadcast, change, version, versionOf } = createState();
  const last = new Map<number, number | undefined>();
  let inTurn = 0;
  let mostInTurn = 0;
  let writes = 0;
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      watchBy(broadcast, (message) => {
        last.set(index, versionOf(message));
        inTurn += 1;
        writes += 1;
        // Takes as long as a write.
        for (const endsAtMs = performance.now() + 0.02; performance.now() < endsAtMs; ) {}
      }),
    ),
  );
  for (const endsAtMs = performance.now() + 500; performance.now() < endsAtMs; ) {
    change();
    inTurn = 0;
    await nextTurn();
    mostInTurn = Math.max(mostInTurn, inTurn);
  }
  t.ok(mostInTurn > 0 && mostInTurn <= 64, `${mostInTurn} writes in a turn`);
  t.ok(writes < 15_000, `${writes} writes of 20 µs in half a second`);
  await until(() => last.size === 1_000 && [...last.values()].every((one) => one === version()));
});

test("a state that cannot be read ends all watchers with the error; later ones are served", async (t) => {
  const { broadcast, change, fail, versionOf } = createState();
  const seen: (number | undefined)[] = [];
  const watchers = await Promise.all(
    [1, 2].map(() => watchBy(broadcast, (message) => seen.push(versionOf(message)))),
  );
  fail(new InfraError(hostReasons.TOOL_FAILED, "lvm failed"));
  for (const { end } of watchers) {
    await t.rejects(end, /lvm failed/);
  }
  await t.rejects(
    watchBy(broadcast, () => {}),
    /lvm failed/,
  );
  fail(undefined);
  await watchBy(broadcast, (message) => seen.push(versionOf(message)));
  change();
  await until(() => seen.at(-1) === 1);
});

test("a watcher that leaves leaves nothing behind", async (t) => {
  const { broadcast, listeners, change } = createState();
  const one = await watchBy(broadcast, () => t.fail("written to after its end"));
  const other = await watchBy(broadcast, () => {});
  t.equal(listeners.size, 1, "one subscription for all");
  one.ending.abort();
  t.same(await one.end, { value: undefined, done: true });
  change();
  await nextTurn();
  other.ending.abort();
  await other.end;
  t.equal(listeners.size, 0);
  t.equal(getEventListeners(one.ending.signal, "abort").length, 0);
});

test("over HTTP/1.1 the handler yields each message, so that it can be repeated", async (t) => {
  const { broadcast, change, versionOf } = createState();
  const ending = new AbortController();
  const messages = broadcast.watch(createCall({ ending, peer: { httpVersion: "1.1" } }));
  const next = async () => versionOf(sharedMessageOf((await messages.next()).value as object));
  t.equal(await next(), 0);
  change();
  t.equal(await next(), 1);
  ending.abort();
  t.same(await messages.next(), { value: undefined, done: true });
});
