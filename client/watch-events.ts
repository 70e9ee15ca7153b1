import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Event, EventService } from "../gen/hostplane/v1/event_pb.ts";
import { describeError } from "./describe-error.ts";
import { resumeStream, type StreamOptions } from "./resume-stream.ts";

export interface WatchEventsOptions extends StreamOptions {
  /** Restricts events to these topics, e.g. "volumes". Default: all. */
  readonly topics?: readonly string[];
  /** Restricts events to these resources and their descendants. Default: all. */
  readonly resources?: readonly string[];
  /** Where to start: after the event or other message that carried this cursor. Default: now. */
  readonly cursor?: string | undefined;
  /** Silence after which the gateway sends a heartbeat, in milliseconds; at least 1000. Default: 15 s. */
  readonly heartbeatMs?: number | undefined;
  /** Called with each cursor from which a later watch can continue without a gap and without a repeat. */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** Called when events were missed because they are no longer stored: read the state that depends on them again. */
  readonly onGap?: ((error: unknown) => void) | undefined;
}

/** Ratio of the default silence limit, 40 s, to the default heartbeat, 15 s. Other heartbeats get the same ratio. */
const silenceFactor = 40 / 15;
const defaultHeartbeatMs = 15_000;

/**
 * Yields events in order, without gaps or repeats. After a lost connection it continues after the last event; it never ends by
 * itself. State that is read after the first "live" of `onState` includes everything up to the first event.
 * @throws ConnectError that a retry cannot fix
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
