import { create } from "@bufbuild/protobuf";
import { EventService, SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import { createBroadcast } from "../../events/broadcast.ts";
import type { Events } from "../../events/events.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { createSharedMessage } from "../../rpc/shared-message.ts";
import { createEventMessages, type DetailOf } from "./event-messages.ts";
import { findStart, parseFilter, parseHeartbeat } from "./subscribe-request.ts";
import { subscription } from "./subscription.ts";

/** What `createEventService` needs. */
export interface EventServiceOptions {
  readonly events: Events;
  /** Every topic that there is, with what its events tell. */
  readonly details: Readonly<Record<string, DetailOf>>;
  readonly isSandbox: boolean;
  /** The limit of the listeners. */
  readonly maxMessageBytes: number;
  readonly log: { warn(message: string, cause?: unknown): void };
  /** Called for each subscriber with the topics it asks for, none for all; what it returns is called once that has left. */
  readonly onSubscriber?: (topics: readonly string[]) => () => void;
  /** After so long a silence a subscriber that asks for no other gets a heartbeat; 15 s if absent. */
  readonly silenceMs?: number;
  /** For so long a change of what a caller may call may go unnoticed; 1 s if absent. */
  readonly recheckMs?: number;
}

/** hostplane.v1.EventService: what happens, in order. Ends with `events`. */
export function createEventService(options: EventServiceOptions): ServiceRegistration {
  const { events, details, log, silenceMs = 15_000, recheckMs = 1_000, onSubscriber } = options;
  const messages = createEventMessages({
    cursorOf: events.cursorOf,
    details,
    isSandbox: options.isSandbox,
    maxMessageBytes: options.maxMessageBytes,
    onFactsLeftOut: ({ seq, topic, type, resource }, cause) =>
      log.warn(`event ${seq} (${topic} ${type}, ${resource}) is told without its facts`, cause),
  });
  const shared = (message: ReturnType<typeof messages.event>) =>
    createSharedMessage(SubscribeResponseSchema, create(SubscribeResponseSchema, message));
  const broadcast = createBroadcast({
    events,
    messageOf: (record) => shared(messages.event(record)),
    heartbeatOf: (cursor) => shared(messages.heartbeat(cursor)),
    recheckMs,
  });
  const topics = Object.keys(details).toSorted();
  return registerService(EventService, {
    async *subscribe(request, call) {
      const filter = parseFilter(request, topics, call);
      const heartbeatMs = parseHeartbeat(request, silenceMs);
      const afterSeq = await findStart(request, events);
      yield* subscription({ events, broadcast, messages, onSubscriber }, afterSeq, filter, heartbeatMs, call);
    },
  });
}
