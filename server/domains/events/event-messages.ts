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

/** Makes the facts of an event of the payload that its topic keeps. */
export type DetailOf = (payload: unknown) => EventDetail;

/** Makes the messages of the stream. Cursors are those of the event or the place. */
export interface EventMessages {
  snapshot(cursor: string): Response;
  heartbeat(cursor: string): Response;
  /** Never throws: an event whose facts cannot be told is told without them. */
  event(record: EventRecord): Response;
}

/** Of topics that keep the facts as they are told: the payload is the JSON of an Event that has nothing else. */
export const detailFromJson: DetailOf = (payload) =>
  fromJson(EventSchema, payload as JsonValue, { ignoreUnknownFields: true }).detail;

/** What the messages tell besides their events. */
export interface EventMessageOptions {
  readonly cursorOf: (seq: number) => string;
  /** For each topic; an event of another one, which a newer gateway may have written, is told without facts. */
  readonly details: Readonly<Record<string, DetailOf>>;
  readonly isSandbox: boolean;
  /** What a client takes at most: the facts of an event with which its message would be larger are left out. */
  readonly maxMessageBytes: number;
  /** Called with the first event of each type whose facts were left out, and why they were. */
  readonly onFactsLeftOut?: (record: EventRecord, cause: unknown) => void;
}

export function createEventMessages(options: EventMessageOptions): EventMessages {
  const { cursorOf, details, isSandbox, maxMessageBytes, onFactsLeftOut } = options;
  /** An event is sent to many, and encoded here for the first alone. */
  const tellable = new WeakSet<EventRecord>();
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
      ...(detail === undefined ? {} : { detail }),
    };
    return create(SubscribeResponseSchema, { message: { case: "event", value } });
  }

  /** @throws Error when the facts cannot be decoded or encoded, or the message is too large with them */
  function messageWithFacts(record: EventRecord): Response {
    const message = messageOf(record, details[record.topic]?.(record.payload));
    if (!tellable.has(record)) {
      const sizeBytes = largestSizeBytes(message);
      if (sizeBytes > maxMessageBytes) {
        throw new Error(`${sizeBytes} bytes are more than limits.maxMessageBytes, ${maxMessageBytes}`);
      }
      tellable.add(record);
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

/** In the larger of the two forms in which clients take messages. */
function largestSizeBytes(message: Response): number {
  const made = create(SubscribeResponseSchema, message);
  const json = toJsonString(SubscribeResponseSchema, made);
  return Math.max(toBinary(SubscribeResponseSchema, made).byteLength, Buffer.byteLength(json));
}
