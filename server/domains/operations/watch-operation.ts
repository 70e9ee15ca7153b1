import type { MessageInitShape } from "@bufbuild/protobuf";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import type { WatchOperationResponseSchema } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { Events } from "../../events/events.ts";
import { eventReasons } from "../../events/reasons.ts";
import { operationFrom, operationFromNow } from "../../operations/operation-changes.ts";
import type { Operations } from "../../operations/operations.ts";
import type { Call } from "../../rpc/call.ts";
import type { OperationAccess } from "./operation-access.ts";
import { operationMessage } from "./operation-messages.ts";

export interface WatchSources {
  readonly operations: Pick<Operations, "get" | "getAtSeq">;
  readonly events: Pick<Events, "follow" | "between" | "cursorOf" | "seqOf">;
  readonly access: OperationAccess;
}

/**
 * Yields the current state of an operation, then each change, until the message that reports its end. With a cursor, it yields
 * only later changes; if those were purged, it begins with the current state.
 * @throws InfraError OPERATION_NOT_FOUND, also when the caller may no longer see it; INVALID_FIELD; the signal's reason
 */
export async function* watchOperation(
  sources: WatchSources,
  { id, cursor }: { readonly id: string; readonly cursor: string },
  call: Call,
): AsyncGenerator<MessageInitShape<typeof WatchOperationResponseSchema>, void> {
  const { operations, events, access } = sources;
  access.assertVisible(call, await operations.get(id));
  const afterSeq = cursor === "" ? undefined : await seqOfCursor(events, cursor);
  const changes =
    afterSeq === undefined
      ? operationFromNow(sources, id, call.signal)
      : operationFrom(sources, id, afterSeq, call.signal);
  for await (const { operation, seq } of changes) {
    access.assertVisible(call, operation);
    yield { operation: operationMessage(operation), cursor: events.cursorOf(seq) };
  }
}

/** Returns undefined when later events were purged. @throws InfraError INVALID_FIELD cursor, STORE_UNAVAILABLE */
async function seqOfCursor(events: WatchSources["events"], cursor: string): Promise<number | undefined> {
  try {
    return await events.seqOf(cursor);
  } catch (error) {
    if (hasReason(error, eventReasons.HISTORY_GONE)) {
      return undefined;
    }
    throw error;
  }
}
