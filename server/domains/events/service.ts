import { create } from "@bufbuild/protobuf";
import { EventService, SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import { createBroadcast } from "../../events/broadcast.ts";
import type { Events } from "../../events/events.ts";
import { followedBatchBytes, followedEventBytes } from "../../events/followed-limits.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedMessage } from "../../rpc/streams/shared-message.ts";
import { createEventMessages, type DetailOf } from "./event-messages.ts";
import { followEvents } from "./follow-events.ts";
import { findStart, parseFilter, parseHeartbeat } from "./subscribe-request.ts";
import { subscription } from "./subscription.ts";

/** Options of `createEventService`. */
export interface EventServiceOptions {
  readonly events: Events;
  /** All topics, with the conversions of their events. */
  readonly details: Readonly<Record<string, DetailOf>>;
  readonly isSandbox: boolean;
  readonly visibilityOf: VisibilityOf;
  /** Limit of the listeners. */
  readonly maxMessageBytes: number;
  readonly log: { warn(message: string, cause?: unknown): void };
  /** Called for each subscriber with its topics, none for all; returns a function that is called when it disconnects. */
  readonly onSubscriber?: (topics: readonly string[]) => () => void;
  /** Interval without messages after which a subscriber gets a heartbeat, unless it requests another one. Default: 15 s. */
  readonly silenceMs?: number;
  /** How long a change of a caller's permissions may take to become effective. Default: 1 s. */
  readonly recheckMs?: number;
}

/** Creates hostplane.v1.EventService: events in order. Its streams end when `events` is closed. */
export function createEventService(options: EventServiceOptions): ServiceRegistration {
  const { events, details, log, silenceMs = 15_000, recheckMs = 1_000, onSubscriber } = options;
  const messagesOf = (maxMessageBytes: number) =>
    createEventMessages({
      cursorOf: events.cursorOf,
      details,
      isSandbox: options.isSandbox,
      maxMessageBytes,
      onFactsLeftOut: ({ seq, topic, type, resource }, cause) =>
        log.warn(`event ${seq} (${topic} ${type}, ${resource}) is sent without its facts`, cause),
    });
  const messages = messagesOf(options.maxMessageBytes);
  const shared = (message: ReturnType<typeof messages.event>) =>
    createSharedMessage(SubscribeResponseSchema, create(SubscribeResponseSchema, message));
  const broadcast = createBroadcast({
    events,
    messageOf: (record) => shared(messages.event(record)),
    heartbeatOf: (cursor) => shared(messages.heartbeat(cursor)),
    recheckMs,
  });
  const topics = Object.keys(details).toSorted();
  const forHubs = {
    events,
    visibilityOf: options.visibilityOf,
    messages: messagesOf(Math.min(followedEventBytes, options.maxMessageBytes / 4)),
    batchBytes: Math.min(followedBatchBytes, options.maxMessageBytes / 2),
    silenceMs: 15_000,
    onSubscriber,
  };
  return registerService(EventService, {
    async *subscribe(request, call) {
      const filter = parseFilter(request, topics, () => options.visibilityOf(call));
      const heartbeatMs = parseHeartbeat(request, silenceMs);
      const afterSeq = await findStart(request, events);
      yield* subscription({ events, broadcast, messages, onSubscriber }, afterSeq, filter, heartbeatMs, call);
    },
    followEvents: (request, call) => followEvents(forHubs, request, call),
  });
}
