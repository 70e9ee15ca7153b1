import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";

/**
 * Returns the newer state of an operation: the last event's, unless the read one is certainly newer. Reads and events arrive
 * independently of each other.
 */
export function laterOf(fromEvent: Operation, read: Operation): Operation {
  if (fromEvent.attempt !== read.attempt) {
    return fromEvent.attempt > read.attempt ? fromEvent : read;
  }
  return endedMs(read) > endedMs(fromEvent) ? read : fromEvent;
}

/**
 * Updates a list of operations with the states from later events, and adds operations that have started since.
 * @param isListed reports whether an operation belongs to the list now
 * @returns newest first
 */
export function upToDate(
  listed: readonly Operation[],
  fromEvents: Iterable<Operation>,
  isListed: (operation: Operation) => boolean,
): readonly Operation[] {
  const byId = new Map(listed.map((operation) => [operation.id, operation]));
  for (const operation of fromEvents) {
    const before = byId.get(operation.id);
    byId.set(operation.id, before === undefined ? operation : laterOf(operation, before));
  }
  return [...byId.values()].filter(isListed).sort((one, other) => createdMs(other) - createdMs(one));
}

/** Returns 0 for an operation that has not ended. */
function endedMs({ endedAt }: Operation): number {
  return endedAt === undefined ? 0 : timestampMs(endedAt);
}

function createdMs({ createdAt }: Operation): number {
  return createdAt === undefined ? 0 : timestampMs(createdAt);
}
