import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { Operations } from "../../../../operations/operations.ts";
import { reasonOfEnd } from "../../../../operations/reason-of-end.ts";
import type { Call } from "../../../../rpc/call/call.ts";
import type { CloneInput } from "../../long-changes/clone-run.ts";
import type { ThickClones } from "../../long-changes/thick-clones.ts";
import { type CsiMarks, csiMarksOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { csiIdOf } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";

/** What copying thick volumes depends on. */
export interface CopyParts extends CsiParts {
  readonly thickClones: ThickClones;
  readonly operations: Pick<Operations, "assertFree" | "list" | "get" | "ended" | "cancel" | "retry">;
}

/** A volume that an operation creates by copying. */
export interface OpenCopy {
  readonly operation: Operation;
  /** ID of the volume. */
  readonly id: string;
  readonly marks: CsiMarks;
  readonly className: string;
}

/** Share of a call's time that it waits; the rest is left for the answer. */
const waitShare = 0.9;

/** Finds the operation that creates a volume through CSI, also one that needs attention. @param except ID of one that does not count */
export async function findOpenCopy(
  { operations, host }: Pick<CopyParts, "operations" | "host">,
  resource: string,
  except?: string,
): Promise<OpenCopy | undefined> {
  const states = ["scheduled", "active", "undoing", "needsAttention"] as const;
  const filters = { kind: "volumes.clone", resource, states };
  const { operations: open } = await operations.list(filters, { belowSeq: undefined, limit: 100 });
  return open
    .filter((one) => one.host === host && one.resource === resource && one.id !== except)
    .flatMap((operation) => {
      const input = operation.input as CloneInput;
      const marks = csiMarksOf(input);
      const id = csiIdOf({ volumeGroupName: input.volumeGroup, name: input.volume });
      return marks === undefined ? [] : [{ operation, id, marks, className: input.deviceClass }];
    })
    .at(0);
}

/**
 * Waits until a copy has ended. One that needs attention continues first. If the call's deadline comes first, the copy continues
 * without it.
 * @throws InfraError CSI_PENDING, OPERATION_NOT_FOUND, and the signal's reason
 */
export async function untilCopyEnds(
  { operations }: Pick<CopyParts, "operations">,
  { id, state }: Operation,
  call: Pick<Call, "signal" | "timeLeftMs">,
): Promise<Operation> {
  if (state === "needsAttention") {
    await operations.retry(id);
  }
  const leftMs = call.timeLeftMs();
  const enough =
    leftMs === undefined ? [] : [AbortSignal.timeout(Math.max(0, Math.floor(leftMs * waitShare)))];
  const signal = AbortSignal.any([call.signal, ...enough]);
  try {
    return await operations.ended(id, signal);
  } catch (error) {
    if (signal.aborted && !call.signal.aborted) {
      throw stillCopied(await operations.get(id));
    }
    // The wait changes nothing.
    throw error instanceof InfraError && error.effect === undefined ? error.withEffect("none") : error;
  }
}

/** Returns the error for a copy that did not complete. */
export function copyFailed(operation: Operation): InfraError {
  const { id, resource, state, message, failure, attention } = operation;
  const why = state === "cancelled" ? "cancelled" : (failure?.message ?? message);
  const left = [...(attention?.left ?? []), ...(attention?.advice ?? [])]
    .map((words) => ` ${words}`)
    .join("");
  return new InfraError(
    reasonOfEnd(operation),
    `the volume was not copied: ${why} (operation ${id}).${left}`,
    {
      resource,
      effect: state === "needsAttention" ? "possible" : "none",
    },
  );
}

function stillCopied({ id, resource, input, progress = 0 }: Operation): InfraError {
  const { volumeGroup, volume, source } = input as CloneInput;
  const percent = Math.floor(100 * progress);
  const words = `${volumeGroup}/${volume} is still being copied from ${source} (${percent} %, operation ${id}); repeat the call`;
  return new InfraError(csiReasons.CSI_PENDING, words, { resource, effect: "none" });
}
