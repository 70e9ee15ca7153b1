import { toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { EventSchema } from "../../gen/hostplane/v1/event_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { whileRead } from "../cli/while-read.ts";
import { eventLine } from "../domains/events/event-line.ts";
import {
  type AdminOptions,
  type CommandContext,
  messageOfCall,
  runAdminCommand,
} from "./run-admin-command.ts";

export interface FollowEventsOptions extends AdminOptions {
  readonly fromCursor?: string;
  readonly since?: Date;
  readonly topic?: readonly string[];
  readonly resource?: readonly string[];
}

/**
 * Prints events as they happen, until the gateway stops or the output is closed. If the stream fails, the error names the
 * cursor to resume from.
 */
export function followEvents(options: FollowEventsOptions, context: CommandContext): Promise<ExitCode> {
  const { fromCursor, since, topic = [], resource = [], json } = options;
  return runAdminCommand(
    options,
    context,
    ({ events }) =>
      whileRead(async (signal) => {
        const request = { topics: [...topic], resources: [...resource], ...startOf(fromCursor, since) };
        let cursor: string | undefined;
        try {
          for await (const { message } of events.subscribe(request, { signal })) {
            cursor = message.value?.cursor;
            if (message.case === "event") {
              const { value } = message;
              context.output.out(
                json === true ? JSON.stringify(toJson(EventSchema, value)) : eventLine(value),
              );
            }
          }
        } catch (error) {
          throw withNextCursor(error, cursor);
        }
      }),
    { mustRun: true },
  );
}

function startOf(cursor: string | undefined, since: Date | undefined) {
  if (cursor !== undefined) {
    return { start: { case: "cursor" as const, value: cursor } };
  }
  return since === undefined ? {} : { start: { case: "time" as const, value: timestampFromDate(since) } };
}

/** Adds the cursor to resume from to the error, if one is known. */
function withNextCursor(error: unknown, cursor: string | undefined): unknown {
  const failure = ConnectError.from(error);
  const [info] = failure.findDetails(ErrorInfoSchema);
  const next = info?.metadata.cursor ?? info?.metadata.oldestCursor ?? cursor;
  return next === undefined
    ? error
    : new Error(`${messageOfCall(failure)}; resume with --from-cursor ${next}`);
}
