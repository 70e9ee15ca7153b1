import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";

/**
 * What is known of an operation: what an event told last, unless what was read is certainly later, since readings and events
 * come by ways of their own.
 */
export function laterTelling(told: Operation, read: Operation): Operation {
  if (told.attempt !== read.attempt) {
    return told.attempt > read.attempt ? told : read;
  }
  return endedMs(read) > endedMs(told) ? read : told;
}

/**
 * Operations as they were listed, brought up to date by what events have told since, with those that have begun since.
 * @param isWanted whether one belongs to the list as it is now
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
    byId.set(operation.id, before === undefined ? operation : laterTelling(operation, before));
  }
  return [...byId.values()].filter(isWanted).sort((one, other) => createdMs(other) - createdMs(one));
}

/** 0 for one that has not ended. */
function endedMs({ endedAt }: Operation): number {
  return endedAt === undefined ? 0 : timestampMs(endedAt);
}

function createdMs({ createdAt }: Operation): number {
  return createdAt === undefined ? 0 : timestampMs(createdAt);
}
