import type { SlotRecord } from "../../store/cluster-records.ts";

/** What is written on a machine in MAAS, by which it is known whose it is. */
export interface MachineMarks {
  /** Of the store that has taken it. */
  readonly installationId: string;
  readonly cluster: string;
  readonly clusterUid: string;
  /** Undefined: of the control plane. */
  readonly pool: string | undefined;
  readonly slotUid: string;
  /** Grows with each machine that the store takes. */
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

/** What machines of the control plane are marked as; no pool may be called that. */
export const controlPlanePool = "control-plane";

/** The name under which a slot takes a machine; MAAS finds the machine by it until its release begins. */
export function agentNameOf(installationId: string, slotUid: string): string {
  return `kaas/${installationId}/${slotUid}`;
}

/** The annotations of a slot's machine. */
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

/** Reads them; undefined when they are not all there, or not as `marksOf` writes them. */
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

/** The slot that is written on a machine, whatever else is; undefined when none is. */
export function markedSlotOf(annotations: ReadonlyMap<string, string>): string | undefined {
  return annotations.get(keys.slot);
}
