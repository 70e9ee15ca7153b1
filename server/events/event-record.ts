import type { EventRow } from "../store/events.ts";

/** Something that happened, as it was written down. */
export interface EventRecord {
  /** Grows with every event, not by one. */
  readonly seq: number;
  /** By the store's clock. */
  readonly atMs: number;
  readonly topic: string;
  readonly type: string;
  readonly resource: string;
  /** Empty: it happened on none. */
  readonly host: string;
  readonly operationId: string | undefined;
  /** Full names of the services by which a caller may see it. */
  readonly services: readonly string[];
  /** Plain data; what it holds, the topic says. */
  readonly payload: unknown;
}

/** Which events are wanted; all conditions must be met. */
export interface EventFilter {
  /** One of these; any when empty. */
  readonly topics: readonly string[];
  /** About one of these or what is below it; anything when empty. A gap above one of these is about it too. */
  readonly resources: readonly string[];
  /** Those that the caller may call, of which the event must have one; undefined: all. As of when it is asked for. */
  readonly services: ReadonlySet<string> | undefined;
  readonly operationId?: string;
}

/** The type of an event that says that others may be missing, about its resource and all that is below. */
const gapType = "gap";

/** Whether the event is wanted. @throws what a getter of the filter throws */
export function isWanted(
  { topic, type, resource, operationId, services }: EventRecord,
  filter: EventFilter,
): boolean {
  if (filter.operationId !== undefined && operationId !== filter.operationId) {
    return false;
  }
  if (filter.topics.length > 0 && !filter.topics.includes(topic)) {
    return false;
  }
  const isAbout = (wanted: string) =>
    isWithin(resource, wanted) || (type === gapType && isWithin(wanted, resource));
  if (filter.resources.length > 0 && !filter.resources.some(isAbout)) {
    return false;
  }
  const allowed = filter.services;
  return allowed === undefined || services.some((service) => allowed.has(service));
}

function isWithin(resource: string, wanted: string): boolean {
  return (
    resource.startsWith(wanted) && (resource.length === wanted.length || resource[wanted.length] === "/")
  );
}

export function recordFromRow(row: EventRow): EventRecord {
  return {
    seq: row.seq,
    atMs: row.at,
    topic: row.topic,
    type: row.type,
    resource: row.resource,
    host: row.host,
    operationId: row.operation_id ?? undefined,
    services: JSON.parse(row.services),
    payload: JSON.parse(row.payload_json),
  };
}
