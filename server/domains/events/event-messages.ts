import { fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EventSchema, type SubscribeResponseSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import type { EventRecord } from "../../events/event-record.ts";

type EventDetail = NonNullable<MessageInitShape<typeof EventSchema>["detail"]>;
type Response = MessageInitShape<typeof SubscribeResponseSchema>;

/** Makes the facts of an event of the payload that its topic keeps. */
export type DetailOf = (payload: unknown) => EventDetail;

/** Makes the messages of the stream. Cursors are those of the event or the place. */
export interface EventMessages {
  snapshot(cursor: string): Response;
  heartbeat(cursor: string): Response;
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
}

export function createEventMessages({ cursorOf, details, isSandbox }: EventMessageOptions): EventMessages {
  return {
    snapshot: (cursor) => ({ message: { case: "snapshot", value: { cursor } } }),
    heartbeat: (cursor) => ({ message: { case: "heartbeat", value: { cursor } } }),
    event(record) {
      const detail = details[record.topic]?.(record.payload);
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
      return { message: { case: "event", value } };
    },
  };
}
