import type { EventRow } from "./store/events.ts";

/** A call that has not been made. */
export interface PlannedCall {
  /** `package.Service/Method` */
  readonly methodPath: string;
  readonly resource: string;
}

/** A stored event. */
export interface EventRecord {
  /** Increases with every event, but not always by one. */
  readonly seq: number;
  /** By the store's clock. */
  readonly atMs: number;
  readonly topic: string;
  readonly type: string;
  readonly resource: string;
  /** Empty: it did not happen on a host. */
  readonly host: string;
  readonly operationId: string | undefined;
  /** Full names of the services that give a caller access to it. */
  readonly services: readonly string[];
  /** Plain data; its shape depends on the topic. */
  readonly payload: unknown;
  /** For an event of a plan: its call. A caller with bounds needs a grant for that, and not for the plan. */
  readonly planned?: PlannedCall | undefined;
  /** The host of the fleet whose gateway has recorded it, and the time there; undefined: this gateway. */
  readonly ofHost?: { readonly name: string; readonly atMs: number } | undefined;
}

/** Filter for events; an event must match all conditions. */
export interface EventFilter {
  /** Topics; any when empty. */
  readonly topics: readonly string[];
  /** Resources, each with everything below it; any when empty. A gap event also matches if its resource is above one of these. */
  readonly resources: readonly string[];
  /** Services that the caller may call; an event needs one of them. Undefined: all. A getter may compute it on each access. */
  readonly services: ReadonlySet<string> | undefined;
  /** What the caller may see of these services; undefined or absent: everything. A getter may compute it on each access. */
  readonly bounds?: EventBounds | undefined;
  readonly operationId?: string;
  /** `all`: events of this gateway and of the hosts of its fleet; names: events of these hosts. Absent: of this gateway only. */
  readonly fleetHosts?: "all" | readonly string[];
}

/** Bounds of a caller's grants. */
export interface EventBounds {
  /** @param subject `isAbove`: whether what is below the resource is enough */
  covers(subject: {
    readonly services: readonly string[];
    readonly resource: string;
    /** Host of the fleet; undefined: this gateway. */
    readonly host: string | undefined;
    readonly isAbove: boolean;
  }): boolean;
  coversHost(name: string): boolean;
  /** Reports whether a grant allows a call. @param call `host` as for `covers` */
  allows(call: PlannedCall & { readonly host: string | undefined }): boolean;
}

/** Topic of the events of plans. */
export const planTopic = "plan";

/** Type of the event that reports that events about its resource, or anything below it, may be missing. */
export const gapType = "gap";

/** Topic of the events about the hosts of a fleet. Only a hub itself has such events. */
export const fleetTopic = "fleet";

/**
 * Reports whether an event matches a filter. A gap in the events of a host matches whatever topics, resources and services the
 * filter has, since any of them may be missing. Only the hosts of its bounds count.
 * @throws the errors of a getter of the filter
 */
export function matches(record: EventRecord, filter: EventFilter): boolean {
  const { topic, type, resource, operationId, services, ofHost, planned } = record;
  if (!isFromHosts(record, filter)) {
    return false;
  }
  if (ofHost !== undefined && topic === fleetTopic && type === gapType) {
    return filter.bounds?.coversHost(ofHost.name) !== false;
  }
  if (filter.operationId !== undefined && operationId !== filter.operationId) {
    return false;
  }
  if (filter.topics.length > 0 && !filter.topics.includes(topic)) {
    return false;
  }
  const isAbout = (target: string) =>
    isWithin(resource, target) || (type === gapType && isWithin(target, resource));
  if (filter.resources.length > 0 && !filter.resources.some(isAbout)) {
    return false;
  }
  const allowed = filter.services;
  if (allowed !== undefined && !services.some((service) => allowed.has(service))) {
    return false;
  }
  const { bounds } = filter;
  if (bounds === undefined) {
    return true;
  }
  const host = ofHost?.name;
  return planned === undefined
    ? bounds.covers({ services, resource, host, isAbove: type === gapType })
    : bounds.allows({ ...planned, host });
}

function isFromHosts({ ofHost }: EventRecord, { fleetHosts }: EventFilter): boolean {
  return (
    fleetHosts === "all" ||
    (ofHost === undefined ? fleetHosts === undefined : fleetHosts?.includes(ofHost.name) === true)
  );
}

function isWithin(resource: string, ancestor: string): boolean {
  return (
    resource.startsWith(ancestor) &&
    (resource.length === ancestor.length || resource[ancestor.length] === "/")
  );
}

/** Converts a row: JSON is parsed, null becomes undefined. */
export function recordFromRow(row: EventRow): EventRecord {
  const payload: unknown = JSON.parse(row.payload_json);
  return {
    seq: row.seq,
    atMs: row.at,
    topic: row.topic,
    type: row.type,
    resource: row.resource,
    host: row.host,
    operationId: row.operation_id ?? undefined,
    services: JSON.parse(row.services),
    payload,
    planned: row.topic === planTopic && row.type !== gapType ? plannedCallOf(payload) : undefined,
    ofHost: row.fleet_host === "" ? undefined : { name: row.fleet_host, atMs: row.fleet_host_at ?? 0 },
  };
}

/** Returns the call of a plan. No grant allows that of an event without details, which a host of the fleet may have sent. */
function plannedCallOf(payload: unknown): PlannedCall {
  const { plan } = payload as { readonly plan?: { readonly method?: string; readonly resource?: string } };
  return { methodPath: plan?.method ?? "", resource: plan?.resource ?? "" };
}
