import type { Connection } from "./connection.ts";
import { isUnsupported } from "./errors.ts";
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
import type { Packet } from "./packet.ts";
import { remoteProgram } from "./procedure.ts";
import { procedures } from "./procedures.ts";
import { type Codec, int, struct } from "./xdr.ts";
import { decodeExactly } from "./xdr-reader.ts";

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

/** A name of a libvirt constant, or `unknown` for a number that is newer than these lists. */
type Known<Names extends readonly string[]> = Names[number] | "unknown";

/** An event that libvirt sends. */
export type LibvirtEvent =
  | {
      readonly kind: "domainLifecycle";
      readonly domain: DomainRef;
      readonly event: Known<typeof domainLifecycles>;
      /** The reason, as a number of virDomainEvent…DetailType. */
      readonly detail: number;
    }
  | { readonly kind: "domainDeviceAdded"; readonly domain: DomainRef; readonly alias: string }
  | { readonly kind: "domainDeviceRemoved"; readonly domain: DomainRef; readonly alias: string }
  /** The guest agent connected or disconnected. */
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
      /** A number of virDomainBlockJobType. */
      readonly type: number;
      readonly status: Known<typeof blockJobStatuses>;
    }
  /** A title, description or element of `<metadata>` was set without a new definition. */
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
  /** The connection was restored after a loss; events in between were missed. */
  | { readonly kind: "reconnected" };

/** Requests an event for all objects of its type. */
type Registration = (connection: Connection) => Promise<unknown>;

interface EventDescription {
  readonly register: Registration;
  /** Decodes the message that carries the event. */
  readonly decode: (payload: Uint8Array) => LibvirtEvent;
}

const callbackId = int;
const domain = domainRef;
const pool = storagePoolRef;
const device = nodeDeviceRef;

function event<T>(
  register: Registration,
  message: Codec<T>,
  seen: (value: T) => LibvirtEvent,
): EventDescription {
  return { register, decode: (payload) => seen(decodeExactly(message, payload)) };
}

function ofDomains(eventId: number): Registration {
  return ({ call }) => call(procedures.connectDomainEventCallbackRegisterAny, { eventId, domain: null });
}

function ofPools(eventId: number): Registration {
  return ({ call }) => call(procedures.connectStoragePoolEventRegisterAny, { eventId, pool: null });
}

function ofDevices(eventId: number): Registration {
  return ({ call }) => call(procedures.connectNodeDeviceEventRegisterAny, { eventId, device: null });
}

/** Events by the number of the procedure of their messages. */
const events: ReadonlyMap<number, EventDescription> = new Map([
  [
    318,
    event(ofDomains(0), struct({ callbackId, domain, event: int, detail: int }), (each) => ({
      kind: "domainLifecycle",
      domain: each.domain,
      event: named(domainLifecycles, each.event),
      detail: each.detail,
    })),
  ],
  [
    354,
    event(ofDomains(19), struct({ callbackId, domain, alias: text }), (each) => ({
      kind: "domainDeviceAdded",
      domain: each.domain,
      alias: each.alias,
    })),
  ],
  [
    333,
    event(ofDomains(15), struct({ callbackId, domain, alias: text }), (each) => ({
      kind: "domainDeviceRemoved",
      domain: each.domain,
      alias: each.alias,
    })),
  ],
  [
    348,
    event(ofDomains(18), struct({ callbackId, domain, state: int, reason: int }), (each) => ({
      kind: "domainAgent",
      domain: each.domain,
      isConnected: each.state === 1,
    })),
  ],
  [
    363,
    event(ofDomains(21), struct({ callbackId, domain, params: jobParams }), (each) => ({
      kind: "domainJobCompleted",
      domain: each.domain,
      params: each.params,
    })),
  ],
  [
    339,
    event(ofDomains(16), struct({ callbackId, domain, disk: text, type: int, status: int }), (each) => ({
      kind: "domainBlockJob",
      domain: each.domain,
      disk: each.disk,
      type: each.type,
      status: named(blockJobStatuses, each.status),
    })),
  ],
  [
    379,
    event(ofDomains(23), struct({ callbackId, domain, type: int, uri: optionalText }), (each) => ({
      kind: "domainMetadata",
      domain: each.domain,
    })),
  ],
  [
    370,
    event(ofPools(0), struct({ callbackId, pool, event: int, detail: int }), (each) => ({
      kind: "storagePoolLifecycle",
      pool: each.pool,
      event: named(poolLifecycles, each.event),
    })),
  ],
  [
    373,
    event(ofPools(1), struct({ callbackId, pool }), (each) => ({
      kind: "storagePoolRefreshed",
      pool: each.pool,
    })),
  ],
  [
    376,
    event(ofDevices(0), struct({ callbackId, device, event: int, detail: int }), (each) => ({
      kind: "nodeDeviceLifecycle",
      device: each.device,
      event: named(nodeDeviceLifecycles, each.event),
    })),
  ],
  [
    377,
    event(ofDevices(1), struct({ callbackId, device }), (each) => ({
      kind: "nodeDeviceUpdated",
      device: each.device,
    })),
  ],
]);

/**
 * Requests all known events. Those that the driver does not support are skipped, e.g. events of host devices with
 * libvirt's test driver.
 */
export async function registerEvents(connection: Connection): Promise<void> {
  const registrations = [...events.values()].map(({ register }) => register(connection));
  for (const result of await Promise.allSettled(registrations)) {
    if (result.status === "rejected" && !isUnsupported(result.reason)) {
      throw result.reason;
    }
  }
}

/**
 * Decodes the event in a message; undefined for an unknown one.
 * @throws InfraError TOOL_OUTPUT
 */
export function eventFromMessage({ program, procedure, payload }: Packet): LibvirtEvent | undefined {
  return program === remoteProgram.number ? events.get(procedure)?.decode(payload) : undefined;
}

function named<Names extends readonly string[]>(names: Names, number: number): Known<Names> {
  return names[number] ?? "unknown";
}
