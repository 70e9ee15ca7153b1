import type { MessageInitShape } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { WatchOperationResponseSchema } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { Events } from "../../events/events.ts";
import { hasEnded } from "../../operations/operation.ts";
import { operationChanges } from "../../operations/operation-changes.ts";
import type { OperationAtSeq, Operations } from "../../operations/operations.ts";
import type { Call } from "../../rpc/call.ts";
import type { OperationAccess } from "./operation-access.ts";
import { operationMessage } from "./operation-messages.ts";

export interface WatchSources {
  readonly operations: Pick<Operations, "getAtSeq">;
  readonly events: Pick<Events, "follow" | "cursorOf" | "seqOf">;
  readonly access: OperationAccess;
}

/**
 * An operation as it is now, then each change, up to the message that tells its end. With a cursor the changes behind it
 * alone, unless they are no longer kept or it has ended: then it goes on with the operation as it is now.
 * @throws InfraError OPERATION_NOT_FOUND, also when the caller may see it no more; INVALID_FIELD; the signal's reason
 */
export async function* watchOperation(
  { operations, events, access }: WatchSources,
  { id, cursor }: { readonly id: string; readonly cursor: string },
  call: Call,
): AsyncGenerator<MessageInitShape<typeof WatchOperationResponseSchema>, void> {
  const messageOf = ({ operation, seq }: OperationAtSeq) => {
    access.assertVisible(call, operation);
    return { operation: operationMessage(operation), cursor: events.cursorOf(seq) };
  };
  const afterSeq = cursor === "" ? undefined : await seqOfCursor(events, cursor);
  const now = await operations.getAtSeq(id);
  const first = messageOf(now);
  if (afterSeq === undefined || hasEnded(now.operation)) {
    yield first;
  }
  if (hasEnded(now.operation)) {
    return;
  }
  for await (const change of operationChanges(events, id, afterSeq ?? now.seq, call.signal)) {
    yield messageOf(change);
    // An end that is older than what was read above was followed by a retry.
    if (hasEnded(change.operation) && change.seq > now.seq) {
      return;
    }
  }
}

/** Undefined when what is behind it is no longer kept. @throws InfraError INVALID_FIELD cursor, STORE_UNAVAILABLE */
async function seqOfCursor(events: WatchSources["events"], cursor: string): Promise<number | undefined> {
  try {
    return await events.seqOf(cursor);
  } catch (error) {
    if (error instanceof InfraError && error.reason === "HISTORY_GONE") {
      return undefined;
    }
    throw error;
  }
}
