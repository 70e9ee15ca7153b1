import type { MessageInitShape } from "@bufbuild/protobuf";
import { isSettledWithin } from "../../../adapters/host/is-settled-within.ts";
import type { SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import type { Broadcast } from "../../events/broadcast.ts";
import { type EventFilter, matches } from "../../events/event-record.ts";
import type { Events } from "../../events/events.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { SharedMessage } from "../../rpc/streams/shared-message.ts";
import type { EventMessages } from "./event-messages.ts";

type Message = MessageInitShape<typeof SubscribeResponseSchema>;

/** Dependencies of `subscription`. */
export interface SubscriptionOptions {
  readonly events: Pick<Events, "after" | "cursorOf">;
  readonly broadcast: Broadcast<SharedMessage>;
  readonly messages: EventMessages;
  /** Called with the requested topics, none for all; returns a function that is called at the end. */
  readonly onSubscriber?: ((topics: readonly string[]) => () => void) | undefined;
}

/**
 * Yields the messages of one subscriber: its start position, then past events at its own pace. Once it has caught up, new
 * events are broadcast to it through `call.openSink()`, together with all others. Ends when the call does.
 * @param silenceMs interval without messages after which there is a heartbeat
 * @throws InfraError the errors of `Events.after` and `Broadcast.join`
 */
export async function* subscription(
  options: SubscriptionOptions,
  afterSeq: number,
  filter: EventFilter,
  silenceMs: number,
  call: Pick<Call, "signal" | "openSink">,
): AsyncGenerator<Message, void> {
  const leave = options.onSubscriber?.(filter.topics);
  try {
    yield* messagesFrom(options, afterSeq, filter, silenceMs, call);
  } finally {
    leave?.();
  }
}

async function* messagesFrom(
  { events, broadcast, messages }: SubscriptionOptions,
  afterSeq: number,
  filter: EventFilter,
  silenceMs: number,
  call: Pick<Call, "signal" | "openSink">,
): AsyncGenerator<Message, void> {
  let seq = afterSeq;
  yield messages.snapshot(events.cursorOf(seq));
  let writtenAtMs = performance.now();
  for (;;) {
    const next = events.after(seq, call.signal);
    for (;;) {
      const leftMs = writtenAtMs + silenceMs - performance.now();
      if (leftMs > 0 && (await isSettledWithin(next, leftMs))) {
        break;
      }
      yield messages.heartbeat(events.cursorOf(seq));
      writtenAtMs = performance.now();
    }
    const records = await next;
    for (const record of records) {
      seq = record.seq;
      if (matches(record, filter)) {
        yield messages.event(record);
        writtenAtMs = performance.now();
      }
    }
    if (records.length === 0) {
      const sink = call.openSink();
      const joined = broadcast.join(seq, { filter, sink, writtenAtMs, silenceMs }, call.signal);
      if (joined !== undefined) {
        return await joined;
      }
    }
  }
}
