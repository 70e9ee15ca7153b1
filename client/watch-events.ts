import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Event, EventService } from "../gen/hostplane/v1/event_pb.ts";
import { describeError } from "./describe-error.ts";
import { resumeStream, type StreamOptions } from "./resume-stream.ts";

export interface WatchEventsOptions extends StreamOptions {
  /** Only of these topics, e.g. "volumes". All when absent. */
  readonly topics?: readonly string[];
  /** Only about these resources and what is below them. All when absent. */
  readonly resources?: readonly string[];
  /** Where to begin: behind the event, or what else carried this cursor. Now when absent. */
  readonly cursor?: string | undefined;
  /** After so long a silence the gateway sends a heartbeat; 15 s if absent, at least 1 s. */
  readonly heartbeatMs?: number | undefined;
  /** Called with each cursor from which a later watch would go on without a gap and without a repeat. */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** Called when events were missed since they are not kept any more: read anew what depends on them. */
  readonly onGap?: ((error: unknown) => void) | undefined;
}

/** As many heartbeats may be missing as the 40 seconds of the default have, which is 15. */
const silenceFactor = 40 / 15;
const defaultHeartbeatMs = 15_000;

/**
 * Yields what happens, in order, without gaps and repeats, and goes on behind the last event after a lost connection, for
 * ever. What is read after the first "live" of `onState` holds everything up to the first event.
 * @throws ConnectError that is of no use to be tried again
 */
export async function* watchEvents(
  events: Client<typeof EventService>,
  {
    topics = [],
    resources = [],
    onCursor,
    onGap,
    heartbeatMs = defaultHeartbeatMs,
    maxSilenceMs = silenceFactor * heartbeatMs,
    ...options
  }: WatchEventsOptions = {},
): AsyncGenerator<Event, void> {
  let { cursor } = options;
  const open = (signal: AbortSignal) => {
    const start = cursor === undefined ? { case: undefined } : { case: "cursor" as const, value: cursor };
    const heartbeatAfter = durationFromMs(heartbeatMs);
    return events.subscribe(
      { start, topics: [...topics], resources: [...resources], heartbeatAfter },
      { signal },
    );
  };
  const recover = (error: unknown) => {
    const { reason, metadata } = describeError(error);
    if (reason !== "HISTORY_GONE" || cursor === metadata.oldestCursor) {
      return false;
    }
    cursor = metadata.oldestCursor;
    onGap?.(error);
    return true;
  };
  for await (const { message } of resumeStream(open, { ...options, maxSilenceMs, recover })) {
    if (message.case === undefined) {
      continue;
    }
    ({ cursor } = message.value);
    if (message.case === "event") {
      yield message.value;
    }
    onCursor?.(cursor);
  }
}
