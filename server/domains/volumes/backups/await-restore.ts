import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { findVolume } from "../../../lvm/operation-volumes.ts";
import { hasEnded, type Operation } from "../../../operations/operation.ts";
import { operationFromNow } from "../../../operations/operation-changes.ts";
import { reasonOfEnd } from "../../../operations/reason-of-end.ts";
import type { ShownVolume } from "../volume-messages.ts";
import type { BackupParts } from "./backup-parts.ts";
import { backupFailed } from "./backup-words.ts";
import type { RestoreInput } from "./restore-run.ts";

type AwaitedParts = Pick<BackupParts, "lvm" | "operations" | "events">;

/**
 * Waits until the volume is filled, or, if not synchronous, until it is created. An error that only ends the wait has the
 * effect `none`, so that the idempotency key of the request stays usable: the wait changes nothing, and the same request
 * joins the operation again.
 * @throws InfraError the reason why the operation failed, and the signal's reason
 */
export async function untilRestored(
  parts: AwaitedParts,
  { id, isSynchronous }: { readonly id: string; readonly isSynchronous: boolean },
  signal: AbortSignal,
): Promise<ShownVolume> {
  try {
    return await (isSynchronous ? untilFilled(parts, id, signal) : untilCreated(parts, id, signal));
  } catch (error) {
    throw error instanceof InfraError && error.effect === undefined ? error.withEffect("none") : error;
  }
}

async function untilFilled(parts: AwaitedParts, id: string, signal: AbortSignal): Promise<ShownVolume> {
  return readFilled(parts, await parts.operations.ended(id, signal));
}

/** Waits until the volume is created, or the operation is queued behind others. The returned volume has no device. */
async function untilCreated(parts: AwaitedParts, id: string, signal: AbortSignal): Promise<ShownVolume> {
  for await (const { operation } of operationFromNow(parts, id, signal)) {
    const isCreated = operation.steps.some(({ name, state }) => name === "create" && state === "done");
    const waits = operation.state === "scheduled" && operation.waitingFor !== "";
    if ((operation.state === "active" && isCreated) || waits) {
      return requestedVolume(await parts.operations.get(id));
    }
    if (hasEnded(operation)) {
      break;
    }
  }
  return untilFilled(parts, id, signal);
}

/** Returns the volume of a restore that has ended. @throws InfraError the reason why it failed */
async function readFilled({ lvm }: AwaitedParts, operation: Operation): Promise<ShownVolume> {
  const { state, resource } = operation;
  if (state !== "completed") {
    const effect = state === "needsAttention" ? "possible" : "none";
    throw new InfraError(reasonOfEnd(operation), backupFailed(operation), { resource, effect });
  }
  // The volume is restored; a failure to read LVM now must not fail the call.
  const read = await lvm.read().catch(() => undefined);
  if (read === undefined) {
    return requestedVolume(operation);
  }
  const { volumeGroup, volume } = operation.input as RestoreInput;
  const restored = findVolume(read.value, volumeGroup, volume);
  if (restored === undefined) {
    throw new InfraError(
      lvmReasons.VOLUME_NOT_FOUND,
      `${volume} was restored, but removed outside hostplane immediately afterwards`,
      {
        resource: volumeResource(volumeGroup, volume),
        effect: "done",
      },
    );
  }
  return restored;
}

function requestedVolume({ input }: Operation): ShownVolume {
  const { volumeGroup: volumeGroupName, volume: name, sizeBytes, tags } = input as RestoreInput;
  return { volumeGroupName, name, sizeBytes: BigInt(sizeBytes), tags, device: undefined, attributes: "" };
}
