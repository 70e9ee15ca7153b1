import { durationMs } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { SubscribeRequest } from "../../../gen/hostplane/v1/event_pb.ts";
import { fleetHostName } from "../../config/fleet-schema.ts";
import type { Visibility } from "../../domain/visibility.ts";
import type { EventFilter } from "../../events/event-record.ts";
import type { Events } from "../../events/events.ts";
import { parseTime } from "../../rpc/listing/listing-fields.ts";

const topicsMax = 64;
const resourcesMax = 256;
const resourceMaxLength = 1024;
const fleetHostsMax = 256;
const heartbeatMinMs = 1_000;
const heartbeatMaxMs = 60_000;

/**
 * Builds a subscriber's filter: the requested events, of the services that the caller may call at the time of each check.
 * @param visibility returns what the caller may see at the moment
 * @throws InfraError INVALID_FIELD; its `services` throws once the caller's credential is no longer accepted
 */
export function parseFilter(
  { topics, resources, fleetHosts }: Pick<SubscribeRequest, "topics" | "resources" | "fleetHosts">,
  knownTopics: readonly string[],
  visibility: () => Visibility,
): EventFilter {
  assertCount("topics", topics, topicsMax);
  assertCount("resources", resources, resourcesMax);
  assertCount("fleet_hosts", fleetHosts, fleetHostsMax);
  for (const [index, topic] of topics.entries()) {
    if (!knownTopics.includes(topic)) {
      throw invalidField(`topics[${index}]`, `expected one of ${knownTopics.join(", ")}`);
    }
  }
  for (const [index, resource] of resources.entries()) {
    if (!isResource(resource)) {
      const expected = `expected 1 to ${resourceMaxLength} characters, and no "/" at either end`;
      throw invalidField(`resources[${index}]`, expected);
    }
  }
  for (const [index, name] of fleetHosts.entries()) {
    const { error } = fleetHostName.safeParse(name);
    if (error !== undefined) {
      throw invalidField(`fleet_hosts[${index}]`, error.issues[0]?.message ?? "expected the name of a host");
    }
  }
  return {
    topics,
    resources,
    fleetHosts: fleetHosts.length === 0 ? "all" : fleetHosts,
    get services() {
      return visibility().services;
    },
    get bounds() {
      return visibility().bounds;
    },
  };
}

/**
 * Returns the requested heartbeat interval, in milliseconds.
 * @throws InfraError INVALID_FIELD
 */
export function parseHeartbeat(
  { heartbeatAfter }: Pick<SubscribeRequest, "heartbeatAfter">,
  defaultMs: number,
): number {
  if (heartbeatAfter === undefined) {
    return defaultMs;
  }
  const ms = durationMs(heartbeatAfter);
  if (ms < heartbeatMinMs || ms > heartbeatMaxMs) {
    throw invalidField("heartbeat_after", `expected 1 to 60 seconds, got ${ms / 1000}`);
  }
  return ms;
}

/**
 * Returns the number of the event after which the stream begins.
 * @throws InfraError INVALID_FIELD, HISTORY_GONE, STORE_UNAVAILABLE
 */
export function findStart(
  { start }: Pick<SubscribeRequest, "start">,
  events: Pick<Events, "seqOf" | "seqAtTime" | "currentSeq">,
): Promise<number> {
  switch (start.case) {
    case "cursor":
      return events.seqOf(start.value);
    case "time":
      return events.seqAtTime(parseTime("time", start.value));
    default:
      return events.currentSeq();
  }
}

function assertCount(field: string, values: readonly string[], max: number): void {
  if (values.length > max) {
    throw invalidField(field, `expected at most ${max}, got ${values.length}`);
  }
}

function isResource(text: string): boolean {
  return text !== "" && text.length <= resourceMaxLength && !text.startsWith("/") && !text.endsWith("/");
}
