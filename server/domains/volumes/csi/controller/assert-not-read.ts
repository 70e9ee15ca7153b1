import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { operationOf } from "../../../../lvm/operation-marks.ts";
import { type CsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";

/**
 * Refuses to grow or remove a volume while an operation copies or backs up a copy-on-write snapshot of it. LVM would refuse too, but
 * an orchestrator takes FAILED_PRECONDITION of a growth for a volume that must be unmounted first, and waits for that.
 * @throws InfraError CSI_PENDING
 */
export function assertNotRead(state: LvmState, { id, volume }: Pick<CsiVolume, "id" | "volume">): void {
  const operationIds = state.volumes
    .filter(
      ({ kind, volumeGroupName, originName }) =>
        kind === "snapshot" && volumeGroupName === volume.volumeGroupName && originName === volume.name,
    )
    .flatMap((snapshot) => operationOf(snapshot) ?? []);
  if (operationIds.length > 0) {
    throw new InfraError(
      csiReasons.CSI_PENDING,
      `operation ${operationIds.join(", ")} reads a snapshot of ${id}; repeat the call`,
      { resource: resourceOfId(id) },
    );
  }
}
