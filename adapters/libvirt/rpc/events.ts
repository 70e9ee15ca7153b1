import {
  type DomainRef,
  domainRef,
  jobParams,
  type NodeDeviceRef,
  nodeDeviceRef,
  optionalText,
  type StoragePoolRef,
  storagePoolRef,
  type TypedParam,
  text,
} from "./objects.ts";
import { type Codec, int, struct } from "./xdr.ts";
import type { XdrReader } from "./xdr-reader.ts";

const domainLifecycles = [
  "defined",
  "undefined",
  "started",
  "suspended",
  "resumed",
  "stopped",
  "shutdown",
  "pmsuspended",
  "crashed",
] as const;
const poolLifecycles = ["defined", "undefined", "started", "stopped", "created", "deleted"] as const;
const nodeDeviceLifecycles = ["created", "deleted", "defined", "undefined"] as const;
const blockJobStatuses = ["completed", "failed", "cancelled", "ready"] as const;

/** A number of libvirt's that this list is too old for. */
type Known<Names extends readonly string[]> = Names[number] | "unknown";

/** What libvirt tells by itself. */
export type LibvirtEvent =
  | {
      readonly kind: "domainLifecycle";
      readonly domain: DomainRef;
      readonly event: Known<typeof domainLifecycles>;
      /** Why, by the numbers of virDomainEvent…DetailType. */
      readonly detail: number;
    }
  | { readonly kind: "domainDeviceAdded"; readonly domain: DomainRef; readonly alias: string }
  | { readonly kind: "domainDeviceRemoved"; readonly domain: DomainRef; readonly alias: string }
  /** The guest agent has come or gone. */
  | { readonly kind: "domainAgent"; readonly domain: DomainRef; readonly isConnected: boolean }
  | {
      readonly kind: "domainJobCompleted";
      readonly domain: DomainRef;
      readonly params: readonly TypedParam[];
    }
  | {
      readonly kind: "domainBlockJob";
      readonly domain: DomainRef;
      /** Its target, e.g. `vda`. */
      readonly disk: string;
      /** By the numbers of virDomainBlockJobType. */
      readonly type: number;
      readonly status: Known<typeof blockJobStatuses>;
    }
  /** Title, description or an element of `<metadata>` was set by itself. */
  | { readonly kind: "domainMetadata"; readonly domain: DomainRef }
  | {
      readonly kind: "storagePoolLifecycle";
      readonly pool: StoragePoolRef;
      readonly event: Known<typeof poolLifecycles>;
    }
  | { readonly kind: "storagePoolRefreshed"; readonly pool: StoragePoolRef }
  | {
      readonly kind: "nodeDeviceLifecycle";
      readonly device: NodeDeviceRef;
      readonly event: Known<typeof nodeDeviceLifecycles>;
    }
  | { readonly kind: "nodeDeviceUpdated"; readonly device: NodeDeviceRef }
  /** The connection is there again after it was not: what happened meanwhile was not told. */
  | { readonly kind: "reconnected" };

interface EventDescription {
  /** The procedure by which libvirt is asked for it, and the event's number there. */
  readonly register: RegisterName;
  readonly eventId: number;
  /** Reads the message that brings it. */
  readonly decode: (reader: XdrReader) => LibvirtEvent;
}

type RegisterName =
  | "connectDomainEventCallbackRegisterAny"
  | "connectStoragePoolEventRegisterAny"
  | "connectNodeDeviceEventRegisterAny";

const callbackId = int;
const domain = domainRef;
const pool = storagePoolRef;
const device = nodeDeviceRef;

function event<T>(
  register: RegisterName,
  eventId: number,
  message: Codec<T>,
  seen: (value: T) => LibvirtEvent,
): EventDescription {
  return { register, eventId, decode: (reader) => seen(message.decode(reader)) };
}

const ofDomain = "connectDomainEventCallbackRegisterAny";
const ofPool = "connectStoragePoolEventRegisterAny";
const ofDevice = "connectNodeDeviceEventRegisterAny";

/** Each event by the number of the procedure whose messages bring it. */
export const events: ReadonlyMap<number, EventDescription> = new Map([
  [
    318,
    event(ofDomain, 0, struct({ callbackId, domain, event: int, detail: int }), (each) => ({
      kind: "domainLifecycle",
      domain: each.domain,
      event: named(domainLifecycles, each.event),
      detail: each.detail,
    })),
  ],
  [
    354,
    event(ofDomain, 19, struct({ callbackId, domain, alias: text }), (each) => ({
      kind: "domainDeviceAdded",
      domain: each.domain,
      alias: each.alias,
    })),
  ],
  [
    333,
    event(ofDomain, 15, struct({ callbackId, domain, alias: text }), (each) => ({
      kind: "domainDeviceRemoved",
      domain: each.domain,
      alias: each.alias,
    })),
  ],
  [
    348,
    event(ofDomain, 18, struct({ callbackId, domain, state: int, reason: int }), (each) => ({
      kind: "domainAgent",
      domain: each.domain,
      isConnected: each.state === 1,
    })),
  ],
  [
    363,
    event(ofDomain, 21, struct({ callbackId, domain, params: jobParams }), (each) => ({
      kind: "domainJobCompleted",
      domain: each.domain,
      params: each.params,
    })),
  ],
  [
    339,
    event(ofDomain, 16, struct({ callbackId, domain, disk: text, type: int, status: int }), (each) => ({
      kind: "domainBlockJob",
      domain: each.domain,
      disk: each.disk,
      type: each.type,
      status: named(blockJobStatuses, each.status),
    })),
  ],
  [
    379,
    event(ofDomain, 23, struct({ callbackId, domain, type: int, uri: optionalText }), (each) => ({
      kind: "domainMetadata",
      domain: each.domain,
    })),
  ],
  [
    370,
    event(ofPool, 0, struct({ callbackId, pool, event: int, detail: int }), (each) => ({
      kind: "storagePoolLifecycle",
      pool: each.pool,
      event: named(poolLifecycles, each.event),
    })),
  ],
  [
    373,
    event(ofPool, 1, struct({ callbackId, pool }), (each) => ({
      kind: "storagePoolRefreshed",
      pool: each.pool,
    })),
  ],
  [
    376,
    event(ofDevice, 0, struct({ callbackId, device, event: int, detail: int }), (each) => ({
      kind: "nodeDeviceLifecycle",
      device: each.device,
      event: named(nodeDeviceLifecycles, each.event),
    })),
  ],
  [
    377,
    event(ofDevice, 1, struct({ callbackId, device }), (each) => ({
      kind: "nodeDeviceUpdated",
      device: each.device,
    })),
  ],
]);

function named<Names extends readonly string[]>(names: Names, number: number): Known<Names> {
  return names[number] ?? "unknown";
}
