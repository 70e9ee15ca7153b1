import { InfraError } from "../../../adapters/host/infra-error.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { createAbsentBackupSource } from "../../backups/backup-source.ts";
import { createResticBackend } from "../../backups/restic-backend.ts";
import { plannersOf } from "../../domain/change.ts";
import { allOf, type DomainContext, type DomainServices } from "../../domain/domain-services.ts";
import { domainReasons } from "../../domain/reasons.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/call/service-handlers.ts";
import { hypervisorAccess } from "./access.ts";
import { createHypervisorChanges } from "./changes/hypervisor-changes.ts";
import { observeHypervisorChanges } from "./events/hypervisor-observer.ts";
import { createOwnChanges } from "./events/own-changes.ts";
import type { SharedStorage } from "./hypervisor-settings.ts";
import { createHypervisors } from "./hypervisors.ts";
import { createInventory } from "./inventory.ts";
import { createLibvirtBackend } from "./monitoring/backend.ts";
import { createHypervisorFigures, createStoragePoolFigures } from "./monitoring/figures.ts";
import { createHypervisorResources } from "./monitoring/resources.ts";
import { poolBackupFacts } from "./pool/backups/backup-facts.ts";
import { createPublishedPoolChanges } from "./pool/changes/published-pool-changes.ts";
import { createStoragePoolChanges } from "./pool/changes/storage-pool-changes.ts";
import { observePoolChanges } from "./pool/events/observe-pool.ts";
import { createStoragePoolBackend } from "./pool/monitoring/backend.ts";
import { createStoragePoolMetrics } from "./pool/monitoring/metrics.ts";
import { createStoragePoolResources } from "./pool/monitoring/resources.ts";
import { createStoragePoolService } from "./pool/service.ts";
import { createSharedPool } from "./pool/shared-pool.ts";
import { createOperationsService } from "./service.ts";
import type { HypervisorSystem } from "./system/system.ts";

/** Creates the services for hypervisors and the storage pool that they share. */
export function serveHypervisors(system: HypervisorSystem, context: DomainContext): DomainServices {
  const { host, operations, log } = context;
  const { libvirt, settings, pool, poolBackup } = system;
  const inventory = createInventory(settings);
  const own = createOwnChanges(libvirt);
  const hypervisors = createHypervisors({ ...context, libvirt, inventory });
  const libvirtPool = settings.sharedStorage?.libvirtPool;
  const shownBy = libvirtPool === undefined ? undefined : { libvirt, libvirtPool };
  const backup = poolBackup && { ...context, ...poolBackup, keySeal: context.repositoryKeySeal };
  const backupRefusal = () => poolBackupsOff(settings.sharedStorage);
  const shared = pool && createSharedPool({ pool, shownBy, operations, host, backup, backupRefusal });
  const poolRefusal = () =>
    new InfraError(
      domainReasons.DOMAIN_OFF,
      "there is no storage pool: set `hypervisors.pool` in the configuration",
    );
  const assertPool = () => {
    if (shared === undefined) {
      throw poolRefusal();
    }
    return shared;
  };
  const changes = {
    ...createHypervisorChanges({ ...context, hypervisors, libvirt, settings, inventory, own }),
    ...createPublishedPoolChanges(assertPool, context),
  };
  const poolChanges = shared && createStoragePoolChanges(shared, context.operationMessage);
  const onFailed = (error: unknown) =>
    log.warn("events of hypervisors could not be published; retrying", error);
  return {
    registrations: [
      createOperationsService(hypervisors, changes),
      poolChanges === undefined || pool === undefined
        ? registerRefusal(StoragePoolService, poolRefusal)
        : createStoragePoolService(pool, poolChanges),
    ],
    planners: [
      plannersOf(OperationsService, changes),
      poolChanges === undefined
        ? registerPlanRefusal(StoragePoolService, poolRefusal)
        : plannersOf(StoragePoolService, poolChanges),
    ],
    access: hypervisorAccess,
    backends: [
      createLibvirtBackend(libvirt, settings),
      ...(pool === undefined ? [] : [createStoragePoolBackend(pool)]),
      ...(poolBackup === undefined
        ? []
        : [
            createResticBackend({
              ...context,
              ...poolBackup,
              domain: "hypervisors",
              kindStart: "storagePool",
            }),
          ]),
    ],
    inventory: [
      // The state of a hypervisor follows the end of its operation, too.
      createHypervisorResources(hypervisors, [
        libvirt.subscribe,
        (onChange) => context.store.subscribe("operations", onChange),
      ]),
      ...(pool === undefined ? [] : [createStoragePoolResources(pool)]),
    ],
    figures: [
      createHypervisorFigures(hypervisors),
      ...(pool === undefined ? [] : [createStoragePoolFigures(pool)]),
    ],
    metrics: pool === undefined ? [] : [createStoragePoolMetrics(pool)],
    backupSource: shared?.backups?.source ?? createAbsentBackupSource(poolBackupFacts),
    observe: () =>
      allOf([
        observeHypervisorChanges({ ...context, libvirt, inventory, own, onFailed }),
        ...(shared === undefined
          ? []
          : [observePoolChanges({ ...context, pool: shared.pool, changes: shared.own, onFailed })]),
      ]),
  };
}

/** Names the configuration keys that backups of the pool need. Volumes of a directory pool are listed by libvirt. */
function poolBackupsOff({ directory, libvirtPool, backup }: SharedStorage = {}): InfraError {
  const keys = [
    ...(backup === undefined ? ["`hypervisors.pool.backup`"] : []),
    ...(directory !== undefined && libvirtPool === undefined ? ["`hypervisors.pool.libvirtPool`"] : []),
  ];
  const words = `backups of the storage pool are off: set ${keys.join(" and ")} in the configuration`;
  return new InfraError(domainReasons.DOMAIN_OFF, words);
}
