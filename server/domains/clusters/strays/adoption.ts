import { createHash } from "node:crypto";
import { clusterImageFrom } from "../bootstrap/image-name.ts";
import { formatKubernetesVersion } from "../bootstrap/kubernetes-version.ts";
import { holdsPlace } from "../store/holds-place.ts";
import type { ClusterRecord, PoolRecord } from "../store/records.ts";
import type { AdoptedSlot } from "../store/strays.ts";
import type { KnownSlots, SeenMachine } from "./judge-machine.ts";
import type { KnownClusters } from "./read-machines.ts";

export type Adoption =
  | {
      readonly slot: AdoptedSlot;
      /**
       * Whether the slot in its marks has or is about to get another machine, so that this one must be marked with a new slot
       * first.
       */
      readonly isRenamed: boolean;
    }
  /** Why it cannot be adopted: a clause without a full stop. */
  | { readonly refusal: string };

/**
 * Determines how AdoptStray would adopt a machine that no slot has.
 * @param clusters of this MAAS
 */
export function adoptionOf(
  { machine, marks }: SeenMachine,
  known: KnownSlots,
  clusters: KnownClusters,
): Adoption {
  if (marks === undefined || marks.installationId !== known.installationId) {
    return { refusal: "it has no annotations of this gateway" };
  }
  const found = clusters.get(marks.cluster);
  if (found === undefined) {
    return { refusal: `cluster ${marks.cluster} not found` };
  }
  const { cluster } = found;
  if (cluster.uid !== marks.clusterUid) {
    return { refusal: `it was deployed for an earlier cluster named ${marks.cluster}` };
  }
  if (cluster.isDeleting) {
    return { refusal: `cluster ${marks.cluster} is being deleted` };
  }
  const pool = poolOf(cluster, marks.pool);
  if (pool === undefined) {
    return { refusal: `cluster ${marks.cluster} has no node pool ${marks.pool}` };
  }
  if (machine.status !== "deployed") {
    return { refusal: "it is not deployed" };
  }
  const image = clusterImageFrom(machine.series);
  if (image === undefined) {
    return { refusal: "it was deployed with an image that is not named as a Kubernetes image" };
  }
  const others = found.slots.filter((slot) => slot.pool === marks.pool && holdsPlace(slot));
  if (others.length >= pool.count) {
    return { refusal: fullRefusal(marks.pool, pool.count) };
  }
  // A released slot can be reused by the store.
  const isRenamed = known.slots.some(({ uid, state }) => uid === marks.slotUid && state !== "released");
  const [ipAddress] = machine.ipAddresses;
  return {
    isRenamed,
    slot: {
      uid: isRenamed ? nextUid(marks.slotUid, machine.systemId) : marks.slotUid,
      cluster: cluster.name,
      clusterUid: cluster.uid,
      pool: marks.pool,
      instanceType: pool.instanceType,
      labels: pool.labels,
      k8sVersion: formatKubernetesVersion(image.version),
      systemId: machine.systemId,
      hostname: machine.hostname,
      ...(ipAddress === undefined ? {} : { ipAddress }),
      sequence: marks.sequence,
      state: "booted",
    },
  };
}

/** Returns why a pool or control plane that already has all its machines cannot adopt another, as a clause with advice. */
function fullRefusal(pool: string | undefined, count: number): string {
  const machines = count === 1 ? "its machine" : `its ${count} machines`;
  return pool === undefined
    ? `the control plane already has ${machines}; release this one, or adopt it once one of them is gone`
    : `node pool ${pool} already has ${machines}; scale it to ${count + 1} and adopt this one at once, before another is installed`;
}

/** Derives the new uid from the machine, so that concurrent adoptions mark it with the same slot that the store gets. */
function nextUid(slotUid: string, systemId: string): string {
  const hex = createHash("sha256").update(`${slotUid}/${systemId}`).digest("hex");
  // A custom UUID (RFC 9562, version 8).
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(12, 15)}`, `8${hex.slice(15, 18)}`];
  return [...parts, hex.slice(18, 30)].join("-");
}

function poolOf(cluster: ClusterRecord, name: string | undefined): Omit<PoolRecord, "name"> | undefined {
  return name === undefined ? cluster.controlPlane : cluster.pools.find((pool) => pool.name === name);
}
