import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { isSettledWithin } from "../../../adapters/host/is-settled-within.ts";
import {
  type FollowEventsRequest,
  type FollowEventsResponseSchema,
  type FollowedEvent,
  FollowedEventSchema,
} from "../../../gen/hostplane/v1/event_pb.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import { type EventFilter, type EventRecord, matches } from "../../events/event-record.ts";
import type { Events } from "../../events/events.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { EventMessages } from "./event-messages.ts";

type Response = MessageInitShape<typeof FollowEventsResponseSchema>;

export interface FollowEventsOptions {
  readonly events: Pick<Events, "after" | "beyond" | "cursorOf" | "currentSeq" | "seqOf">;
  readonly messages: Pick<EventMessages, "event">;
  readonly visibilityOf: VisibilityOf;
  /** A batch is sent as soon as it has this many bytes. */
  readonly batchBytes: number;
  readonly silenceMs: number;
  /** Called with no topics, which stands for all; returns a function that is called at the end. */
  readonly onSubscriber?: ((topics: readonly string[]) => () => void) | undefined;
}

/**
 * Yields this gateway's own events in batches, from a cursor or from now on, at the reader's pace.
 * @throws InfraError INVALID_FIELD, HISTORY_GONE, STORE_UNAVAILABLE, SHUTTING_DOWN, and the reason of the call's end
 */
export async function* followEvents(
  options: FollowEventsOptions,
  request: Pick<FollowEventsRequest, "cursor">,
  call: Pick<Call, "signal" | "caller" | "peer">,
): AsyncGenerator<Response, void> {
  const leave = options.onSubscriber?.([]);
  try {
    yield* responsesFrom(options, request, call);
  } finally {
    leave?.();
  }
}

async function* responsesFrom(
  { events, messages, visibilityOf, batchBytes, silenceMs }: FollowEventsOptions,
  { cursor }: Pick<FollowEventsRequest, "cursor">,
  call: Pick<Call, "signal" | "caller" | "peer">,
): AsyncGenerator<Response, void> {
  const filter: EventFilter = {
    topics: [],
    resources: [],
    get services() {
      return visibilityOf(call).services;
    },
    get bounds() {
      return visibilityOf(call).bounds;
    },
  };
  let seq = cursor === "" ? await events.currentSeq() : await events.seqOf(cursor);
  yield { cursor: events.cursorOf(seq) };
  for (;;) {
    const records = await events.after(seq, call.signal);
    for (const batch of batchesOf(records, filter, messages, batchBytes)) {
      seq = batch.seq;
      yield { events: batch.events, cursor: events.cursorOf(seq) };
    }
    if (records.length === 0) {
      const next = events.beyond(seq, call.signal);
      while (!(await isSettledWithin(next, silenceMs))) {
        yield { cursor: events.cursorOf(seq) };
      }
      await next;
    }
  }
}

interface Batch {
  readonly events: FollowedEvent[];
  /** Number of the last record that it stands for. */
  readonly seq: number;
}

/** Cuts records into batches of at most about `batchBytes`. The last one stands for the records that do not match, too. */
function* batchesOf(
  records: readonly EventRecord[],
  filter: EventFilter,
  messages: Pick<EventMessages, "event">,
  batchBytes: number,
): Generator<Batch, void> {
  let batch: FollowedEvent[] = [];
  let sizeBytes = 0;
  for (const [index, record] of records.entries()) {
    if (matches(record, filter)) {
      const followed = followedEvent(record, messages);
      batch.push(followed);
      sizeBytes += toBinary(FollowedEventSchema, followed).byteLength;
    }
    if (sizeBytes >= batchBytes || index === records.length - 1) {
      yield { events: batch, seq: record.seq };
      batch = [];
      sizeBytes = 0;
    }
  }
}

function followedEvent(record: EventRecord, messages: Pick<EventMessages, "event">): FollowedEvent {
  const { message } = messages.event(record);
  const event = message?.case === "event" ? { event: message.value } : {};
  return create(FollowedEventSchema, {
    ...event,
    services: [...record.services],
    planOwner: record.plan?.owner ?? "",
  });
}
