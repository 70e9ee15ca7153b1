import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";

/**
 * Returns the newer state of an operation: the last event's, unless the read one is certainly newer. Reads and events arrive
 * independently of each other.
 */
export function laterOf(told: Operation, read: Operation): Operation {
  if (told.attempt !== read.attempt) {
    return told.attempt > read.attempt ? told : read;
  }
  return endedMs(read) > endedMs(told) ? read : told;
}

/**
 * Updates a list of operations with the states from later events, and adds operations that have started since.
 * @param isWanted reports whether an operation belongs to the list now
 * @returns newest first
 */
export function upToDate(
  listed: readonly Operation[],
  told: Iterable<Operation>,
  isWanted: (operation: Operation) => boolean,
): readonly Operation[] {
  const byId = new Map(listed.map((operation) => [operation.id, operation]));
  for (const operation of told) {
    const before = byId.get(operation.id);
    byId.set(operation.id, before === undefined ? operation : laterOf(operation, before));
  }
  return [...byId.values()].filter(isWanted).sort((one, other) => createdMs(other) - createdMs(one));
}

/** Returns 0 for an operation that has not ended. */
function endedMs({ endedAt }: Operation): number {
  return endedAt === undefined ? 0 : timestampMs(endedAt);
}

function createdMs({ createdAt }: Operation): number {
  return createdAt === undefined ? 0 : timestampMs(createdAt);
}
