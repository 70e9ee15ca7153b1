import { test } from "tap";
import { createLane } from "../../../adapters/ceph/lane.ts";
import { createSlowPart, partOf } from "../../../adapters/ceph/part.ts";
import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";

const away = () => Promise.reject(new InfraError(cephReasons.CEPH_UNAVAILABLE, "away"));
const hour = 3_600_000;

test("an InfraError makes a part missing, and any other error is thrown", async (t) => {
  t.strictSame(await partOf(Promise.resolve(1)), { ok: 1 });
  t.strictSame(await partOf(away()), { missing: "away" });
  await t.rejects(partOf(Promise.reject(new TypeError("a fault"))), TypeError);
});

test("a lane starts no work while overdue work is running", async (t) => {
  const lane = createLane("the manager", 20);
  await lane.run(async () => {});
  const answeredAtMs = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 10));
  const { promise, resolve } = Promise.withResolvers<void>();
  await t.rejects(
    lane.run(() => promise),
    { message: "the manager did not answer within 20 ms" },
  );
  let began = false;
  const next = lane.run(async () => {
    began = true;
  });
  const refusal: unknown = await next.catch((error: unknown) => error);
  const since = /^the manager has not answered since (20.*Z)$/.exec((refusal as InfraError).message)?.[1];
  t.ok(Date.parse(since ?? "") <= answeredAtMs, "since the last reply, not since the first overdue request");
  t.notOk(began);
  resolve();
  await promise;
  t.equal(await lane.run(async () => 7), 7);
  await t.rejects(lane.run(away), { message: "away" });
});

test("a slow part is read once per interval, and again at once after a failure", async (t) => {
  const part = createSlowPart<number>(hour, 10_000);
  let reads = 0;
  const read = async (): Promise<number> => {
    reads += 1;
    return reads === 1 ? away() : reads;
  };
  t.strictSame(await part.get(read), { missing: "away" });
  t.strictSame(await part.get(read), { ok: 2 });
  t.strictSame(await part.get(read), { ok: 2 });
  t.equal(reads, 2);
});

test("a slow part that takes too long the first time is missing until it has been read", async (t) => {
  const part = createSlowPart<number>(hour, 10);
  const { promise, resolve } = Promise.withResolvers<number>();
  const read = () => promise;
  t.strictSame(await part.get(read), { missing: "Ceph has not answered yet" });
  resolve(5);
  await promise;
  t.strictSame(await part.get(read), { ok: 5 });
});
