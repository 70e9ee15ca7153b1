import {
  create,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EventSchema, SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import type { EventRecord } from "../../events/event-record.ts";

type EventDetail = NonNullable<MessageInitShape<typeof EventSchema>["detail"]>;
type Response = MessageInitShape<typeof SubscribeResponseSchema>;

/** Converts the payload of an event to its facts. Payload formats depend on the topic. */
export type DetailOf = (payload: unknown) => EventDetail;

/** Builds the messages of the stream. Cursors are those of the event or the position. */
export interface EventMessages {
  snapshot(cursor: string): Response;
  heartbeat(cursor: string): Response;
  /** Never throws: if the facts of an event cannot be sent, the message omits them. */
  event(record: EventRecord): Response;
}

/** Converts the payload of topics that store an event's facts as JSON: an Event message with only its detail. */
export const detailFromJson: DetailOf = (payload) =>
  fromJson(EventSchema, payload as JsonValue, { ignoreUnknownFields: true }).detail;

/** Options of `createEventMessages`. */
export interface EventMessageOptions {
  readonly cursorOf: (seq: number) => string;
  /** By topic. An event of an unknown topic, which a newer gateway may have written, is sent without facts. */
  readonly details: Readonly<Record<string, DetailOf>>;
  readonly isSandbox: boolean;
  /** Maximum message size of clients: facts that would make a message larger are omitted. */
  readonly maxMessageBytes: number;
  /** Called for the first event of each type whose facts were omitted, with the reason. */
  readonly onFactsLeftOut?: (record: EventRecord, cause: unknown) => void;
}

/** Builds the messages for all subscribers of a gateway: the size of an event is checked once. */
export function createEventMessages(options: EventMessageOptions): EventMessages {
  const { cursorOf, details, isSandbox, maxMessageBytes, onFactsLeftOut } = options;
  /** Events whose size was checked: an event is sent to many subscribers, but encoded here only for the first. */
  const sizeChecked = new WeakSet<EventRecord>();
  const reportedTypes = new Set<string>();

  function messageOf(record: EventRecord, detail: EventDetail | undefined): Response {
    const value = {
      cursor: cursorOf(record.seq),
      at: timestampFromMs(record.atMs),
      topic: record.topic,
      type: record.type,
      resource: record.resource,
      host: record.host,
      operationId: record.operationId ?? "",
      sandbox: isSandbox,
      ...(record.ofHost === undefined
        ? {}
        : { fleetHost: record.ofHost.name, fleetHostAt: timestampFromMs(record.ofHost.atMs) }),
      ...(detail === undefined ? {} : { detail }),
    };
    return create(SubscribeResponseSchema, { message: { case: "event", value } });
  }

  /** @throws Error when the facts cannot be decoded or encoded, or the message is too large with them */
  function messageWithFacts(record: EventRecord): Response {
    const detailOf = record.ofHost === undefined ? details[record.topic] : detailFromJson;
    const message = messageOf(record, detailOf?.(record.payload));
    if (!sizeChecked.has(record)) {
      const sizeBytes = largestSizeBytes(message);
      if (sizeBytes > maxMessageBytes) {
        throw new Error(`${sizeBytes} bytes exceed limits.maxMessageBytes (${maxMessageBytes})`);
      }
      sizeChecked.add(record);
    }
    return message;
  }

  return {
    snapshot: (cursor) => ({ message: { case: "snapshot", value: { cursor } } }),
    heartbeat: (cursor) => ({ message: { case: "heartbeat", value: { cursor } } }),
    event(record) {
      try {
        return messageWithFacts(record);
      } catch (error) {
        const type = `${record.topic} ${record.type}`;
        if (!reportedTypes.has(type)) {
          reportedTypes.add(type);
          onFactsLeftOut?.(record, error);
        }
        return messageOf(record, undefined);
      }
    },
  };
}

/** Returns the size of the larger of the two encodings that clients use. */
function largestSizeBytes(message: Response): number {
  const response = create(SubscribeResponseSchema, message);
  const json = toJsonString(SubscribeResponseSchema, response);
  return Math.max(toBinary(SubscribeResponseSchema, response).byteLength, Buffer.byteLength(json));
}
