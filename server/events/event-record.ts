import type { EventRow } from "./store/events.ts";

/** The saved plan that an event is about. */
export interface PlanOfEvent {
  /** Of its call: `package.Service/Method`. */
  readonly methodPath: string;
  /** The resource that its call changes. */
  readonly resource: string;
  /** Account that has saved it; empty if the event does not say. */
  readonly owner: string;
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
  /** For an event of a plan. A caller with bounds gets it if it may see that plan. */
  readonly plan?: PlanOfEvent | undefined;
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
  /** Reports whether the caller sees a saved plan. @param plan `host` as for `covers` */
  showsPlan(
    plan: PlanOfEvent & { readonly needsApproval: boolean; readonly host: string | undefined },
  ): boolean;
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
  const { topic, type, resource, operationId, services, ofHost, plan } = record;
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
  // Plans that need no approvals have no events.
  return plan === undefined
    ? bounds.covers({ services, resource, host, isAbove: type === gapType })
    : bounds.showsPlan({ ...plan, needsApproval: true, host });
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

/** Payload of an event of a plan. The owner is beside the details, which clients get. */
interface PlanPayload {
  readonly plan?: { readonly method?: string; readonly resource?: string };
  readonly planOwner?: string;
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
    plan: row.topic === planTopic && row.type !== gapType ? planOf(payload as PlanPayload) : undefined,
    ofHost: row.fleet_host === "" ? undefined : { name: row.fleet_host, atMs: row.fleet_host_at ?? 0 },
  };
}

/** Returns the plan. No grant covers that of an event without details, which a host of the fleet may have sent. */
function planOf({ plan, planOwner }: PlanPayload): PlanOfEvent {
  return { methodPath: plan?.method ?? "", resource: plan?.resource ?? "", owner: planOwner ?? "" };
}
