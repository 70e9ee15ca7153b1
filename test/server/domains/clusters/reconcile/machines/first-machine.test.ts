import { randomUUID } from "node:crypto";
import { test } from "tap";
import { createMaasSandbox } from "../../../../../../adapters/maas/sandbox.ts";
import {
  forgottenMachine,
  makesCluster,
} from "../../../../../../server/domains/clusters/reconcile/machines/first-machine.ts";
import { marksOf } from "../../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import type { SlotRecord, SlotState } from "../../../../../../server/domains/clusters/store/records.ts";

const clusterUid = randomUUID();

function slotIn(state: SlotState, pool?: string): SlotRecord {
  return {
    uid: randomUUID(),
    cluster: "prod",
    clusterUid,
    pool,
    instanceType: "standard",
    labels: [],
    k8sVersion: "1.36.3",
    state,
    candidateId: "sbxaaa",
    systemId: state === "wanted" || state === "candidate" ? undefined : "sbxaaa",
    hostname: "node-1",
    ipAddress: undefined,
    sequence: 1,
    message: "",
    reason: "",
    attempts: 0,
    nextTryAtMs: 0,
    stateSinceMs: 0,
    createdAtMs: 0,
  };
}

test("one machine initializes the cluster, and only while no other can be part of it", async (t) => {
  const slot = slotIn("annotated");
  for (const state of ["wanted", "candidate", "allocated", "annotated"] as const) {
    t.ok(makesCluster({ hasRun: false }, [slot, slotIn(state)], slot), `another is ${state}`);
  }
  for (const state of ["deploying", "booted", "joined", "draining", "releasing"] as const) {
    t.notOk(makesCluster({ hasRun: false }, [slot, slotIn(state)], slot), `another is ${state}`);
  }
  t.ok(makesCluster({ hasRun: false }, [slot, slotIn("releasing", "web")], slot), "a worker never joined");
  t.notOk(makesCluster({ hasRun: false }, [slot, slotIn("joined", "web")], slot), "a worker has joined");
  t.notOk(makesCluster({ hasRun: true }, [slot], slot), "the cluster has run");
  const worker = slotIn("annotated", "web");
  t.notOk(makesCluster({ hasRun: false }, [worker], worker), "it is a worker");
});

test("a control-plane machine that only MAAS knows is found", async (t) => {
  const maas = await createMaasSandbox();
  t.teardown(() => maas.close());
  const forgotten = slotIn("joined");
  await maas.allocate({ systemId: "sbxaaa", agentName: "a" });
  await maas.annotate("sbxaaa", marksOf("0123456789abcdef", forgotten));
  const machines = new Map((await maas.machines({ owner: "sandbox" })).map((each) => [each.systemId, each]));
  const view = { nowMs: 0, machines, api: undefined, images: undefined };
  t.equal(forgottenMachine({ uid: clusterUid }, [slotIn("annotated")], view), "sandbox-node-1");
  t.equal(forgottenMachine({ uid: clusterUid }, [forgotten], view), undefined, "it is known");
  const other = { ...forgotten, systemId: "sbxbbb" };
  t.equal(forgottenMachine({ uid: clusterUid }, [other], view), "sandbox-node-1", "with another machine");
  const none = { ...forgotten, systemId: undefined };
  t.equal(forgottenMachine({ uid: clusterUid }, [none], view), "sandbox-node-1", "without a machine");
  t.equal(forgottenMachine({ uid: randomUUID() }, [], view), undefined, "it belongs to another cluster");
});
