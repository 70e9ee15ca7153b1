import { hasReason } from "../../../../../adapters/host/infra-error.ts";
import type { DeleteVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { Change } from "../../../../domain/change.ts";
import { operationOf } from "../../../../lvm/operation-marks.ts";
import { operationReasons } from "../../../../operations/reasons.ts";
import type { Call } from "../../../../rpc/call/call.ts";
import { findCsiVolume, resourceOfId } from "../csi-volume.ts";
import { type CopyParts, copyFailed, findOpenCopy, type OpenCopy, untilCopyEnds } from "./csi-copies.ts";

/**
 * DeleteVolume, also of a volume that is still being copied: the copying is cancelled first, which removes what it has created.
 * @param remove removes volumes that exist
 */
export function createDeleteCsiVolume<Response>(
  parts: CopyParts,
  remove: Change<DeleteVolumeRequest, Promise<Response>>,
): Change<DeleteVolumeRequest, Promise<Response>> {
  const { lvm, deviceClasses, operations } = parts;

  /** Reports whether no operation works on a resource, which is cheaper than a list of operations. */
  async function isFree(resource: string): Promise<boolean> {
    try {
      await operations.assertFree(resource);
      return true;
    } catch (error) {
      if (hasReason(error, operationReasons.OPERATION_IN_PROGRESS)) {
        return false;
      }
      throw error;
    }
  }

  /** Returns the operation that copies the volume and has not ended, or needs attention. */
  async function openCopyOf(id: string, signal: AbortSignal): Promise<OpenCopy | undefined> {
    const resource = resourceOfId(id);
    const found = findCsiVolume((await lvm.read(signal)).value, deviceClasses, "volume", id);
    const isComplete =
      found !== undefined && operationOf(found.volume) === undefined && (await isFree(resource));
    return isComplete ? undefined : findOpenCopy(parts, resource);
  }

  /** @throws InfraError CSI_PENDING, and the reason why an operation could not be undone */
  async function endCopy(id: string, call: Call): Promise<void> {
    const open = await openCopyOf(id, call.signal);
    if (open === undefined) {
      return;
    }
    const { operation } = open;
    call.noteResource(operation.resource);
    call.noteOperation(operation.id);
    if (operation.state !== "needsAttention") {
      await operations.cancel(operation.id).catch((error: unknown) => {
        // Past the point of no return the volume exists, and is removed once the operation has ended.
        if (!hasReason(error, operationReasons.OPERATION_ENDED, operationReasons.POINT_OF_NO_RETURN)) {
          throw error;
        }
      });
    }
    const ended = await untilCopyEnds(parts, operation, call);
    if (ended.state === "needsAttention") {
      throw copyFailed(ended);
    }
  }

  return {
    plan: remove.plan,
    async run(request, call) {
      // A plan that the call applies is for a volume that exists.
      if (call.appliedPlan === undefined) {
        await endCopy(request.volumeId, call);
      }
      return remove.run(request, call);
    },
  };
}
