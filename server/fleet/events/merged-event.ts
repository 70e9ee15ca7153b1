import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Event, EventSchema, type FollowedEvent } from "../../../gen/hostplane/v1/event_pb.ts";
import { fleetTopic, gapType } from "../../events/event-record.ts";
import { followedEventBytes } from "../../events/followed-limits.ts";
import type { NewEvent } from "../../events/store/events.ts";

/** Longest time that a JavaScript date can have, in milliseconds. */
const longestMs = 8.64e15;

const patterns = {
  topic: /^[a-z][a-zA-Z]{0,31}$/,
  type: /^[a-z][a-zA-Z.]{0,63}$/,
  // No control characters.
  resource: /^[^\p{Cc}]{1,1024}$/u,
  host: /^[^\p{Cc}]{0,253}$/u,
  operationId: /^[\w-]{0,100}$/,
} as const;

const servicePattern = /^[A-Za-z_][\w.]{0,199}$/;
const servicesMax = 64;

/** No control characters. */
const planOwnerPattern = /^[^\p{Cc}]{0,300}$/u;

/**
 * Converts what a host has sent to an event of the hub's log. The host's name is that of its certificate, whatever the host says.
 * Details that are larger than a host may send are omitted.
 * @returns the reason if the hub does not accept the event
 */
export function mergedEventFrom(
  { event, services, planOwner }: FollowedEvent,
  host: string,
): NewEvent | string {
  if (event === undefined) {
    return "it has no event";
  }
  const problem = problemOf(event, services, planOwner);
  if (problem !== undefined) {
    return problem;
  }
  let payload: JsonObject;
  try {
    payload = toJson(
      EventSchema,
      create(EventSchema, { detail: event.detail, sandbox: event.sandbox }),
    ) as JsonObject;
  } catch {
    return "its details are invalid";
  }
  const isTooLarge = Buffer.byteLength(JSON.stringify(payload)) > followedEventBytes;
  return {
    topic: event.topic,
    type: event.type,
    resource: event.resource,
    host: event.host,
    operationId: event.operationId === "" ? undefined : event.operationId,
    services,
    payload: isTooLarge ? {} : { ...payload, ...(planOwner === "" ? {} : { planOwner }) },
    ofHost: { name: host, atMs: msOf(event) },
  };
}

function problemOf(event: Event, services: readonly string[], planOwner: string): string | undefined {
  for (const [field, pattern] of Object.entries(patterns)) {
    if (!pattern.test(event[field as keyof typeof patterns])) {
      return `its ${field} is invalid`;
    }
  }
  if (event.topic === fleetTopic || event.fleetHost !== "") {
    return "only a hub has events about the hosts of a fleet";
  }
  if (services.length > servicesMax || !services.every((name) => servicePattern.test(name))) {
    return "its services are invalid";
  }
  if (!planOwnerPattern.test(planOwner)) {
    return "the owner of its plan is invalid";
  }
  return Number.isNaN(msOf(event)) ? "its time is invalid" : undefined;
}

/** Returns the time at which the host has recorded the event; NaN if it is invalid. */
function msOf({ at }: Event): number {
  const ms = at === undefined ? Number.NaN : Math.trunc(timestampMs(at));
  return Math.abs(ms) <= longestMs ? ms : Number.NaN;
}

/** A period in which events of a host may be missing. */
export interface HostGap {
  /** Undefined: since before the host was first followed. */
  readonly fromMs: number | undefined;
  readonly toMs: number;
  readonly reason: string;
}

/** Creates the event that reports a gap in the events of a host. Every subscriber of the host's events gets it. */
export function hostGapEvent(host: string, { fromMs, toMs, reason }: HostGap): NewEvent {
  const from = fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() };
  return {
    topic: fleetTopic,
    type: gapType,
    resource: `hosts/${host}`,
    host: "",
    services: [],
    payload: { gap: { ...from, to: new Date(toMs).toISOString(), reason } },
    ofHost: { name: host, atMs: toMs },
  };
}
