import type { DescService } from "@bufbuild/protobuf";
import type { Backend } from "./backend.ts";
import type { BackupSource } from "../backups/backup-source.ts";
import type { Seal } from "../crypto/seal.ts";
import type { InventorySource } from "./inventory-source.ts";
import type { Boundary } from "../domains/clusters/reconcile/reconciler-options.ts";
import type { GatewayFacts } from "../domains/system/service.ts";
import type { StoreBackendOptions } from "../domains/system/store-backend.ts";
import type { Events } from "../events/events.ts";
import type { Operations } from "../operations/operations.ts";
import type { PlannerRegistration } from "../operations/planner.ts";
import type { InlineRunner } from "../operations/run-inline.ts";
import type { ServiceRegistration } from "../rpc/service-handlers.ts";
import type { Store } from "../store/store.ts";
import type { Systems } from "../gateway/systems.ts";

/** A domain: its services, its planners, and the systems behind it. */
export interface DomainServices {
  readonly registrations: readonly ServiceRegistration[];
  readonly planners: readonly PlannerRegistration[];
  readonly backends: readonly Backend[];
  /** Resources for the inventory; absent: none. */
  readonly inventory?: readonly InventorySource[];
  /** Present in every domain whose volumes can be backed up, even if backups are not configured. */
  readonly backupSource?: BackupSource;
  /** Starts publishing events of the domain's systems. */
  readonly observe?: () => Activity;
  /** Starts the domain's scheduled work. */
  readonly beginSchedules?: () => Activity;
}

/** Runs until it is closed. */
export interface Activity {
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly systems: Systems;
  readonly runner: InlineRunner;
  readonly operations: Operations;
  /** Resolves when no command of an earlier gateway changes LVM any more. @throws InfraError SHUTTING_DOWN */
  readonly leftCommandsSettled?: () => Promise<void>;
  readonly events: Events;
  readonly auth: Pick<DomainServices, "registrations" | "planners">;
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** Absent: it is unknown whether the store can be written, and how full its disk is. */
  readonly writes?: StoreBackendOptions["writes"];
  readonly readDisk?: StoreBackendOptions["readDisk"];
  /** `createSeal(masterKey, "repository-key")`. */
  readonly repositoryKeySeal: Seal;
  /** `createSeal(masterKey, "cluster")`. */
  readonly clusterSeal: Seal;
  /** Id of this process; never reused. */
  readonly instanceId: string;
  /** Name of this host. */
  readonly host: string;
  readonly facts: GatewayFacts;
  readonly log: { info?(message: string): void; warn(message: string, cause?: unknown): void };
  /** Message limit of the listeners, in bytes. */
  readonly maxMessageBytes: number;
  /** For tests: called before and after each step that changes clusters. */
  readonly boundary?: Boundary;
}

/** Combines activities into one that closes them all. */
export function allOf(activities: readonly Activity[]): Activity {
  return { close: async () => void (await Promise.all(activities.map((one) => one.close()))) };
}

/** Returns the full names, e.g. `proto.LVService`. */
export function namesOf(services: readonly DescService[]): string[] {
  return services.map(({ typeName }) => typeName);
}
