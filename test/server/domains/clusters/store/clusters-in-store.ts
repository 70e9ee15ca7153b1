import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { EventSchema } from "../../../../../gen/hostplane/v1/event_pb.ts";
import type { NewCluster } from "../../../../../server/domains/clusters/store/changes.ts";
import type { FencedCluster } from "../../../../../server/domains/clusters/store/fence.ts";
import type { ClaimedCluster } from "../../../../../server/domains/clusters/store/passes.ts";
import type {
  NewSlot,
  SlotChange,
  SlotRecord,
} from "../../../../../server/domains/clusters/store/records.ts";
import type { StoreOptions } from "../../../../../server/store/open-store.ts";
import type { Store } from "../../../../../server/store/store.ts";

/** Returns the options of a test's store. */
export type MakeOptions = (t: Test) => Promise<Partial<StoreOptions>>;

/** A lease or delay that expires immediately, so that no test waits. */
export const noTimeMs = 0;
export const longMs = 3_600_000;

export const secretsSealed = Uint8Array.from([0, 1, 254, 255]);

/** Returns a cluster with one control-plane machine and no pools. */
export function newCluster(name: string, changes: Partial<NewCluster> = {}): NewCluster {
  return {
    name,
    uid: `${name}-uid`,
    backend: "maas",
    k8sVersion: "1.36.1",
    controlPlaneVersion: "1.36.2",
    controlPlane: { instanceType: "standard", labels: [], count: 1 },
    pools: [],
    secretsSealed,
    actor: "user/ada",
    ...changes,
  };
}

export async function createCluster(
  store: Store,
  name: string,
  changes: Partial<NewCluster> = {},
): Promise<void> {
  await store.run("clusters.create", { cluster: newCluster(name, changes), endpoints: [] });
}

export function newSlot(uid: string, changes: Partial<NewSlot> = {}): NewSlot {
  return {
    uid,
    pool: undefined,
    instanceType: "standard",
    labels: [],
    k8sVersion: "1.36.1",
    ...changes,
  };
}

/** A pass over the cluster that is due; there must be one. */
export interface Pass extends ClaimedCluster {
  readonly fenced: FencedCluster;
  /** Writes the changes, which must succeed, and returns the machines. */
  write(change: readonly SlotChange[], add?: readonly NewSlot[]): Promise<readonly SlotRecord[]>;
}

export async function claimPass(store: Store, instanceId = "gateway-1", leaseMs = longMs): Promise<Pass> {
  const { pass } = await store.run("clusters.claim", { instanceId, leaseMs, backend: "maas" });
  if (pass === undefined) {
    throw new Error("no cluster is due");
  }
  const { name, uid } = pass.cluster;
  const fenced = { name, uid, owner: instanceId, fence: pass.fence };
  return {
    ...pass,
    fenced,
    async write(change, add = []) {
      const written = await store.run("clusters.writeSlots", { fenced, add, change });
      if (!written.ok) {
        throw new Error("the write was refused");
      }
      return written.slots;
    },
  };
}

/** Creates a cluster, and claims it with slots in state `wanted`. */
export async function claimWithSlots(store: Store, name: string, ...uids: string[]): Promise<Pass> {
  await createCluster(store, name);
  const pass = await claimPass(store);
  await pass.write(
    [],
    uids.map((uid) => newSlot(uid)),
  );
  return pass;
}

/** Returns the events in the form of the Event message; throws on fields that Event does not have. */
export async function publishedBy(store: Store, afterSeq = 0) {
  const { rows } = await store.run("events.read", { afterSeq, limit: 1000 });
  return rows.map(({ topic, type, resource, host, services, payload_json }) => {
    const event = fromJson(EventSchema, JSON.parse(payload_json) as JsonValue);
    return { topic, type, resource, host, services, facts: toJson(EventSchema, event) };
  });
}

/** Returns the number of the newest event. */
export async function headSeq(store: Store): Promise<number> {
  return (await store.run("events.head", undefined)).headSeq;
}

/** Counts the notifications about clusters. */
export function countCalls(store: Store): { count: number } {
  const calls = { count: 0 };
  store.subscribe("clusters", () => {
    calls.count += 1;
  });
  return calls;
}
