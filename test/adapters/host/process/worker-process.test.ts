import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { createWorkerProcess, type WorkerProcess } from "../../../../adapters/host/process/worker-process.ts";
import { reasonOf } from "../reason-of.ts";

function workerOf(t: Test): WorkerProcess<string, string> {
  const file = new URL("fixtures/odd-worker.ts", import.meta.url);
  const worker = createWorkerProcess<string, string>({
    file,
    what: "odd",
    unavailable: cephReasons.CEPH_UNAVAILABLE,
  });
  t.teardown(worker.close);
  return worker;
}

const patientMs = 20_000;

async function pidOf(worker: WorkerProcess<string, string>): Promise<string> {
  return (await worker.request("who", patientMs)).split(" ")[0] ?? "";
}

async function untilGone(pid: string): Promise<void> {
  // Bounded by the time limit of the test.
  while (existsSync(`/proc/${pid}`)) {
    await sleep(10);
  }
}

test("one process answers concurrent requests", async (t) => {
  const worker = workerOf(t);
  const replies = await Promise.all(["a", "b", "c"].map((each) => worker.request(each, patientMs)));
  t.strictSame(
    replies.map((reply) => reply.split(" ")[1]),
    ["a", "b", "c"],
  );
  t.equal(new Set(replies.map((reply) => reply.split(" ")[0])).size, 1);
});

test("a process that does not answer in time is killed, and the next request starts another", async (t) => {
  const worker = workerOf(t);
  const pid = await pidOf(worker);
  const other = worker.request("hang", patientMs);
  const [reason, otherReason] = await Promise.all([reasonOf(worker.request("hang", 100)), reasonOf(other)]);
  t.equal(reason, "CEPH_UNAVAILABLE");
  t.equal(otherReason, "CEPH_UNAVAILABLE", "its other pending requests fail at once");
  await untilGone(pid);
  t.not(await pidOf(worker), pid);
});

test("if the process exits, its pending requests fail, and the next request starts another", async (t) => {
  const worker = workerOf(t);
  const pid = await pidOf(worker);
  await t.rejects(worker.request("end", patientMs), { message: "The odd process exited (exit code 3)" });
  t.not(await pidOf(worker), pid);
});

test("after close the process is gone, and requests fail", async (t) => {
  const worker = workerOf(t);
  const pid = await pidOf(worker);
  const requested = reasonOf(worker.request("hang", patientMs));
  worker.close();
  t.equal(await requested, "CEPH_UNAVAILABLE");
  await untilGone(pid);
  t.equal(await reasonOf(worker.request("who", patientMs)), "CEPH_UNAVAILABLE");
});
