import type { DescMethod, DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { OperationSchema } from "../../gen/hostplane/v1/operation_pb.ts";
import type { BackupSource } from "../backups/backup-source.ts";
import type { GatewayConfig } from "../config/gateway-keys.ts";
import type { Seal } from "../crypto/seal.ts";
import type { Events } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { History } from "../history/history.ts";
import type { InlineRunner } from "../operations/engine/run-inline.ts";
import type { Operation } from "../operations/operation.ts";
import type { Operations } from "../operations/operations.ts";
import type { PlannerRegistration } from "../operations/planner.ts";
import type { AccessRegistration } from "../rpc/access/method-access.ts";
import type { InterceptorFor } from "../rpc/call/method-interceptors.ts";
import type { MethodRule } from "../rpc/call/method-rule.ts";
import type { Route } from "../rpc/call/router.ts";
import type { ServiceRegistration } from "../rpc/call/service-handlers.ts";
import type { Store } from "../store/store.ts";
import type { Backend } from "./backend.ts";
import type { FigureSource } from "./figure-source.ts";
import type { InventorySource, ResourceTypes } from "./inventory-source.ts";
import type { MetricSource } from "./metric-source.ts";
import type { VisibilityOf } from "./visibility.ts";

/** What a domain contributes to a running gateway. */
export interface DomainServices {
  readonly registrations: readonly ServiceRegistration[];
  readonly planners: readonly PlannerRegistration[];
  /** What the calls of its methods concern. Methods without it need a grant that covers all resources. */
  readonly access?: readonly AccessRegistration[];
  readonly backends: readonly Backend[];
  /** Resources for the inventory; absent: none. */
  readonly inventory?: readonly InventorySource[];
  /** Figures of its device classes and systems for the history; absent: none. */
  readonly figures?: readonly FigureSource[];
  /** Gauges for `/metrics`; absent: none. */
  readonly metrics?: readonly MetricSource[];
  /** Present in every domain whose volumes can be backed up, even if backups are not configured. */
  readonly backupSource?: BackupSource;
  /** Starts publishing events of the domain's systems. */
  readonly observe?: () => Activity;
  /** Starts the domain's scheduled work. */
  readonly beginSchedules?: () => Activity;
  /** Goes directly around the handlers of changes; absent: none. */
  readonly changeInterceptor?: InterceptorFor;
  /** Called for each subscriber of the domain's events; the result is called when the subscriber leaves. */
  readonly onSubscriber?: () => () => void;
}

/** Runs until it is closed. */
export interface Activity {
  close(): Promise<void>;
}

/** Facts of the gateway that GetInfo returns. */
export interface GatewayFacts {
  readonly version: string;
  /** Name of this host; distinguishes this gateway's objects from those of other hosts in the same store. */
  readonly host: string;
  readonly isSandbox: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Addresses that it listens on; empty before it listens. */
  listeners(): readonly {
    readonly address: string;
    readonly tls: boolean;
    /** Full names; empty when all services are available there. */
    readonly services: readonly string[];
  }[];
}

/** What the gateway measures of itself. */
export interface GatewayMeasures {
  /** Number of calls since the start. */
  callCount(): number;
  /** Size of the database file with its write-ahead log; absent for a database on another machine. */
  readonly readStoreBytes?: (() => Promise<number>) | undefined;
}

/** The parts of the gateway that domains use. */
export interface GatewayParts {
  readonly runner: InlineRunner;
  readonly operations: Operations;
  /** Resolves when no command of an earlier gateway changes LVM any more. @throws InfraError SHUTTING_DOWN */
  readonly leftCommandsSettled?: () => Promise<void>;
  readonly events: Events;
  readonly history: History;
  readonly fleet: Fleet;
  readonly measures: GatewayMeasures;
  readonly auth: Pick<DomainServices, "registrations" | "planners" | "access">;
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** `createSeal(masterKeys, "repository-key")`. */
  readonly repositoryKeySeal: Seal;
  /** `createSeal(masterKeys, "cluster")`. */
  readonly clusterSeal: Seal;
  /** `createSeal(masterKeys, "plans")`. */
  readonly planSeal: Seal;
  /** Key of the digests of saved plans. */
  readonly planDigestKey: Uint8Array;
  /** `approvals.rules` of the configuration. */
  readonly approvalRules: GatewayConfig["approvals"]["rules"];
  /** Id of this process; never reused. */
  readonly instanceId: string;
  /** Name of this host. */
  readonly host: string;
  readonly facts: GatewayFacts;
  readonly log: { info?(message: string): void; warn(message: string, cause?: unknown): void };
  /** Message limit of the listeners, in bytes. */
  readonly maxMessageBytes: number;
  /** Returns the route of a method, by its full name; undefined for an unknown method, and before the gateway serves calls. */
  readonly routeOf: (methodPath: string) => Route | undefined;
  /** For tests: called before and after each step that changes clusters. */
  readonly boundary?: (point: string) => Promise<void> | void;
}

/** What a domain is created with. */
export interface DomainContext extends GatewayParts {
  /** Converts an operation to the API's message. */
  readonly operationMessage: (operation: Operation) => MessageInitShape<typeof OperationSchema>;
  /** Returns what a caller may see. */
  readonly visibilityOf: VisibilityOf;
  /** The gateway's own store, as a backend. */
  readonly storeBackend: Backend;
  /** Every service of the gateway, with its published forms. */
  readonly services: readonly Pick<ServiceRegistration, "service" | "shown">[];
  readonly ruleOf: (method: DescMethod) => MethodRule;
  /** Types of the resources of all domains, also of those that are off. */
  readonly resourceTypes: readonly ResourceTypes[];
  /** Names of the domains that publish events. */
  readonly eventTopics: readonly string[];
  /** The domains before this one in the list, by name. */
  readonly served: ReadonlyMap<string, DomainServices>;
}

/** Combines activities into one that closes them all. */
export function allOf(activities: readonly Activity[]): Activity {
  return { close: async () => void (await Promise.all(activities.map((one) => one.close()))) };
}

/** Returns the backends of domains and of the gateway's own store, by domain and name. */
export function backendsOf(
  served: ReadonlyMap<string, DomainServices>,
  storeBackend: Backend,
): readonly Backend[] {
  const keyOf = ({ domain, name }: Backend) => `${domain}/${name}`;
  return [...[...served.values()].flatMap(({ backends }) => backends), storeBackend].toSorted((a, b) =>
    keyOf(a) < keyOf(b) ? -1 : 1,
  );
}

/** Returns the full names, e.g. `proto.LVService`. */
export function namesOf(services: readonly DescService[]): string[] {
  return services.map(({ typeName }) => typeName);
}
