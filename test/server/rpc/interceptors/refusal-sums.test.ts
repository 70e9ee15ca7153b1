import { test } from "tap";
import {
  createRefusalSums,
  otherKeys,
  type RefusalSum,
} from "../../../../server/rpc/interceptors/refusal-sums.ts";

type Sums = readonly RefusalSum<string>[];

test("a million refusals of one key are one sum, with the last of them", async (t) => {
  const written: Sums[] = [];
  const sums = createRefusalSums<string>(
    async (each) => void written.push(each),
    () => t.fail("nothing fails"),
  );
  for (let i = 0; i < 1_000_000; i++) {
    sums.add("192.0.2.1", `call ${i}`);
  }
  await sums.flush();
  await sums.flush();
  t.same(written, [[{ key: "192.0.2.1", count: 1_000_000, last: "call 999999" }]]);
});

test("a sum is written after about a second, and not at once", async (t) => {
  const written = Promise.withResolvers<Sums>();
  const sums = createRefusalSums<string>(
    async (each) => written.resolve(each),
    () => t.fail("nothing fails"),
  );
  const startedAtMs = performance.now();
  // The timer of the sums does not keep the process alive; this one does.
  const alive = setTimeout(() => t.fail("nothing was written"), 30_000);
  sums.add("192.0.2.1", "call");
  t.match(await written.promise, [{ count: 1 }]);
  t.ok(performance.now() - startedAtMs > 900);
  clearTimeout(alive);
});

test("a hundred keys a minute have their own sum, all others share one", async (t) => {
  let nowMs = 0;
  const written: RefusalSum<string>[] = [];
  const sums = createRefusalSums<string>(
    async (each) => void written.push(...each),
    () => t.fail("nothing fails"),
    () => nowMs,
  );
  for (let i = 0; i < 10_000; i++) {
    sums.add(`address ${i}`, "call");
    if (i % 1000 === 0) {
      await sums.flush();
    }
  }
  sums.add("address 5", "again");
  await sums.flush();
  t.equal(new Set(written.map(({ key }) => key)).size, 101);
  const others = written.filter(({ key }) => key === otherKeys);
  t.equal(
    others.reduce((total, { count }) => total + count, 0),
    9_900,
  );
  t.match(written.at(-1), { key: "address 5", last: "again" });
  nowMs += 60_000;
  sums.add("address 9999", "call");
  await sums.flush();
  t.match(written.at(-1), { key: "address 9999", count: 1 });
});

test("what cannot be written is kept, bounded, and written later", async (t) => {
  let nowMs = 0;
  let isDown = true;
  const written: RefusalSum<string>[] = [];
  let failures = 0;
  const sums = createRefusalSums<string>(
    async (each) => {
      if (isDown) {
        throw new Error("down");
      }
      written.push(...each);
    },
    () => {
      failures++;
    },
    () => nowMs,
  );
  for (let minute = 0; minute < 5; minute++) {
    for (let i = 0; i < 200; i++) {
      sums.add(`address ${minute} ${i}`, "call");
    }
    await sums.flush();
    nowMs += 60_000;
  }
  t.equal(failures, 5);
  isDown = false;
  await sums.flush();
  t.equal(
    written.reduce((total, { count }) => total + count, 0),
    1000,
    "no refusal is lost",
  );
  t.ok(written.length <= 101, `${written.length} rows`);
});
