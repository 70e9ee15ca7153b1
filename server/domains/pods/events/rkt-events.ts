import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { EventSchema, type ImageEvent, type PodEvent } from "../../../../gen/hostplane/v1/event_pb.ts";
import {
  EventType,
  KeyValueSchema,
  type Event as RktEvent,
  EventSchema as RktEventSchema,
} from "../../../../gen/v1alpha/api_pb.ts";
import type { EventRecord } from "../../../events/event-record.ts";
import type { ListenRequest } from "./listen-request.ts";

const types: Readonly<Record<string, EventType>> = {
  "pod.created": EventType.POD_PREPARED,
  "pod.started": EventType.POD_STARTED,
  "pod.exited": EventType.POD_EXITED,
  "pod.removed": EventType.POD_GARBAGE_COLLECTED,
  "container.started": EventType.APP_STARTED,
  "container.exited": EventType.APP_EXITED,
  "image.added": EventType.IMAGE_IMPORTED,
  "image.removed": EventType.IMAGE_REMOVED,
};

/** An event of pods or images in the format of v1alpha.PublicAPI. */
export interface TimedRktEvent {
  readonly event: RktEvent;
  /** When it happened, nanoseconds since 1970. */
  readonly happenedNs: bigint;
}

/**
 * Converts an event; undefined for events that rkt does not have, such as gaps, and for those that this version of the
 * gateway does not know.
 */
export function rktEventFrom({
  type,
  payload,
}: Pick<EventRecord, "type" | "payload">): TimedRktEvent | undefined {
  const rktType = types[type];
  if (rktType === undefined) {
    return undefined;
  }
  const { case: kind, value } = detailOf(payload);
  switch (kind) {
    case "pod":
      return timedEvent(rktType, value.happenedAt, ofPod(rktType, value));
    case "image":
      return timedEvent(rktType, value.happenedAt, ofImage(value));
    default:
      return undefined;
  }
}

/** Reports whether the event matches the caller's filter. */
export function matchesRktEvent({ event, happenedNs }: TimedRktEvent, request: ListenRequest): boolean {
  const { types: anyType, ids, names, sinceSeconds, untilSeconds } = request;
  return (
    (anyType.size === 0 || anyType.has(event.type)) &&
    (ids.size === 0 || ids.has(event.id)) &&
    (names.size === 0 || names.has(event.from)) &&
    (sinceSeconds === undefined || happenedNs > nsFrom(sinceSeconds)) &&
    (untilSeconds === undefined || happenedNs < nsFrom(untilSeconds))
  );
}

function detailOf(payload: unknown) {
  try {
    return fromJson(EventSchema, payload as JsonValue, { ignoreUnknownFields: true }).detail;
  } catch {
    return { case: undefined };
  }
}

type Words = Pick<RktEvent, "id" | "from"> & { readonly data: readonly (readonly [string, string])[] };

function ofPod(type: EventType, pod: PodEvent): Words {
  const reconciled = pod.reconciled ? [["reconciled", "true"] as const] : [];
  if (pod.container === "") {
    return { id: pod.id, from: pod.name || pod.id, data: reconciled };
  }
  const hasCode = type === EventType.APP_EXITED && pod.exitCode !== undefined;
  const data = [
    ["pod", pod.name] as const,
    ["container_id", pod.containerId] as const,
    ...(hasCode ? [["exit_code", String(pod.exitCode)] as const] : []),
    ...reconciled,
  ];
  return { id: pod.id, from: pod.container, data };
}

function ofImage({ id, names, reconciled }: ImageEvent): Words {
  const [first = id, ...others] = names;
  const data = [
    ...others.map((name) => ["name", name] as const),
    ...(reconciled ? [["reconciled", "true"] as const] : []),
  ];
  return { id, from: first, data };
}

function timedEvent(type: EventType, at: Timestamp | undefined, { id, from, data }: Words): TimedRktEvent {
  const { seconds = 0n, nanos = 0 } = at ?? {};
  const pairs = data.map(([Key, value]) => create(KeyValueSchema, { Key, value }));
  return {
    event: create(RktEventSchema, { type, id, from, time: seconds, data: pairs }),
    happenedNs: nsFrom(seconds) + BigInt(nanos),
  };
}

function nsFrom(seconds: bigint): bigint {
  return seconds * 1_000_000_000n;
}
