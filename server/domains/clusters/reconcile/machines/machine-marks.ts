import type { SlotRecord } from "../../store/records.ts";

/** Annotations on a machine in MAAS that identify its owner. */
export interface MachineMarks {
  /** Id of the store that owns the machine. */
  readonly installationId: string;
  readonly cluster: string;
  readonly clusterUid: string;
  /** Undefined for the control plane. */
  readonly pool: string | undefined;
  readonly slotUid: string;
  /** Increases with each machine that the store allocates. */
  readonly sequence: number;
}

const keys = {
  installation: "hostplane-installation",
  cluster: "hostplane-cluster",
  clusterUid: "hostplane-cluster-uid",
  pool: "hostplane-pool",
  slot: "hostplane-slot",
  sequence: "hostplane-sequence",
} as const;

/** Mark of control-plane machines. Pools cannot have this name. */
export const controlPlanePool = "control-plane";

/** Returns the agent name under which a slot allocates its machine. MAAS finds the machine by it until its release begins. */
export function agentNameOf(installationId: string, slotUid: string): string {
  return `kaas/${installationId}/${slotUid}`;
}

/** Returns the annotations of a slot's machine. */
export function marksOf(
  installationId: string,
  slot: Pick<SlotRecord, "uid" | "cluster" | "clusterUid" | "pool" | "sequence">,
): Readonly<Record<string, string>> {
  return {
    [keys.installation]: installationId,
    [keys.cluster]: slot.cluster,
    [keys.clusterUid]: slot.clusterUid,
    [keys.pool]: slot.pool ?? controlPlanePool,
    [keys.slot]: slot.uid,
    [keys.sequence]: String(slot.sequence),
  };
}

/** Parses the annotations; undefined when they are incomplete or not in the form that `marksOf` writes. */
export function marksFrom(annotations: ReadonlyMap<string, string>): MachineMarks | undefined {
  const [installationId, cluster, clusterUid, pool, slotUid, sequence] = [
    annotations.get(keys.installation),
    annotations.get(keys.cluster),
    annotations.get(keys.clusterUid),
    annotations.get(keys.pool),
    annotations.get(keys.slot),
    annotations.get(keys.sequence),
  ];
  if (!installationId || !cluster || !clusterUid || !pool || !slotUid || !/^\d{1,15}$/.test(sequence ?? "")) {
    return undefined;
  }
  return {
    installationId,
    cluster,
    clusterUid,
    pool: pool === controlPlanePool ? undefined : pool,
    slotUid,
    sequence: Number(sequence),
  };
}

/** Returns the slot in a machine's annotations, whatever the others contain; undefined when there is none. */
export function markedSlotOf(annotations: ReadonlyMap<string, string>): string | undefined {
  return annotations.get(keys.slot);
}
