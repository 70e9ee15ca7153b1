import { test } from "tap";
import { createOwnChangeLog } from "../../../server/events/own-change-log.ts";

const isNamed = (name: string) => (change: string) => change === name;
const now = Number.POSITIVE_INFINITY;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a change is found from its start until a state with its effect is published", async (t) => {
  const readAtMs = 100;
  const log = createOwnChangeLog<string>(async () => ({ readAtMs }));
  const created = Promise.withResolvers<number>();
  const change = log.during("a", () => created.promise);
  t.equal(log.find(isNamed("a"), now), "a");
  t.equal(log.find(isNamed("b"), now), undefined);
  log.forget(readAtMs - 1);
  t.equal(log.find(isNamed("a"), now), "a", "it has not ended");
  created.resolve(1);
  t.equal(await change, 1);
  await settled();
  log.forget(readAtMs - 1);
  t.equal(log.find(isNamed("a"), now), "a", "the published state was read earlier");
  log.forget(readAtMs);
  t.equal(log.find(isNamed("a"), now), undefined);
});

test("a failed change may have had an effect, and is found equally long", async (t) => {
  const log = createOwnChangeLog<string>(async () => ({ readAtMs: 100 }));
  await t.rejects(
    log.during("a", () => Promise.reject(new Error("half done"))),
    /half done/,
  );
  await settled();
  t.equal(log.find(isNamed("a"), now), "a");
  log.forget(100);
  t.equal(log.find(isNamed("a"), now), undefined);
});

test("a change is forgotten although the system cannot be read", async (t) => {
  const log = createOwnChangeLog<string>(() => Promise.reject(new Error("away")));
  await log.during("a", async () => {});
  await settled();
  t.equal(log.find(isNamed("a"), now), "a");
  log.forget(performance.now());
  t.equal(log.find(isNamed("a"), now), undefined);
});

test("of unpublished changes, the newest thousand are remembered", async (t) => {
  const log = createOwnChangeLog<number>(async () => ({ readAtMs: 100 }));
  for (let number = 0; number < 1_500; number += 1) {
    await log.during(number, async () => {});
  }
  t.equal(
    log.find((number) => number < 500, now),
    undefined,
  );
  t.equal(
    log.find((number) => number <= 500, now),
    500,
  );
});

test("of two matching changes, the later one is found if it had begun before the read", async (t) => {
  const log = createOwnChangeLog<string>(async () => ({ readAtMs: 0 }));
  const second = Promise.withResolvers<void>();
  await log.during("first", async () => {});
  const betweenMs = performance.now();
  while (performance.now() === betweenMs) {
    await settled();
  }
  const change = log.during("second", () => second.promise);
  const any = () => true;
  t.equal(log.find(any, betweenMs), "first", "the second had not begun");
  t.equal(log.find(any, performance.now()), "second");
  t.equal(log.find(isNamed("second"), betweenMs), "second", "a slow read shows a change that began after it");
  second.resolve();
  await change;
});

test("a change whose effect was compared before its own read ended is forgotten at once", async (t) => {
  const read = Promise.withResolvers<{ readonly readAtMs: number }>();
  const log = createOwnChangeLog<string>(() => read.promise);
  await log.during("a", async () => {});
  log.forget(200);
  t.equal(log.find(isNamed("a"), now), "a");
  read.resolve({ readAtMs: 200 });
  await settled();
  t.equal(log.find(isNamed("a"), now), undefined);
});
