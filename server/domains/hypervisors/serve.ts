import { InfraError } from "../../../adapters/host/infra-error.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { createAbsentBackupSource } from "../../backups/backup-source.ts";
import { createResticBackend } from "../../backups/restic-backend.ts";
import { allOf, type DomainContext, type DomainServices } from "../../domain/domain-services.ts";
import { domainReasons } from "../../domain/reasons.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/call/service-handlers.ts";
import { createLibvirtBackend } from "./backend.ts";
import { observeHypervisorChanges } from "./events/hypervisor-observer.ts";
import type { SharedStorage } from "./hypervisor-settings.ts";
import { createHypervisors } from "./hypervisors.ts";
import { createInventory } from "./inventory.ts";
import { createOwnChanges } from "./own-changes.ts";
import { createHypervisorPlanners } from "./planners.ts";
import { createStoragePoolBackend } from "./pool/backend.ts";
import { poolBackupFacts } from "./pool/backups/backup-facts.ts";
import { observePoolChanges } from "./pool/observe-pool.ts";
import { createStoragePoolPlanners } from "./pool/planners.ts";
import { createStoragePoolResources } from "./pool/resources.ts";
import { createStoragePoolService } from "./pool/service.ts";
import { createSharedPool } from "./pool/shared-pool.ts";
import { createHypervisorResources } from "./resources.ts";
import { createOperationsService } from "./service.ts";
import type { HypervisorSystem } from "./system.ts";

/** Creates the services for hypervisors and the storage pool that they share. */
export function serveHypervisors(system: HypervisorSystem, context: DomainContext): DomainServices {
  const { host, operations, events, log } = context;
  const { libvirt, settings, pool, poolBackup } = system;
  const inventory = createInventory(settings);
  const own = createOwnChanges(libvirt);
  const hypervisors = createHypervisors({ ...context, libvirt, settings, inventory, own });
  const libvirtPool = settings.sharedStorage?.libvirtPool;
  const shownBy = libvirtPool === undefined ? undefined : { libvirt, libvirtPool };
  const backup = poolBackup && { ...context, ...poolBackup, keySeal: context.repositoryKeySeal };
  const backupRefusal = () => poolBackupsOff(settings.sharedStorage);
  const shared = pool && createSharedPool({ pool, shownBy, operations, events, host, backup, backupRefusal });
  const poolRefusal = () =>
    new InfraError(
      domainReasons.DOMAIN_OFF,
      "there is no storage pool: set `hypervisors.pool` in the configuration",
    );
  const onFailed = (error: unknown) =>
    log.warn("events of hypervisors could not be published; retrying", error);
  return {
    registrations: [
      createOperationsService(hypervisors, shared, poolRefusal),
      shared === undefined
        ? registerRefusal(StoragePoolService, poolRefusal)
        : createStoragePoolService(shared, context.operationMessage),
    ],
    planners: [
      createHypervisorPlanners({ hypervisors, shared, poolRefusal, libvirt, host }),
      shared === undefined
        ? registerPlanRefusal(StoragePoolService, poolRefusal)
        : createStoragePoolPlanners(shared),
    ],
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
    backupSource: shared?.backups?.source ?? createAbsentBackupSource(poolBackupFacts),
    observe: () =>
      allOf([
        observeHypervisorChanges({ ...context, libvirt, inventory, own, onFailed }),
        ...(shared === undefined ? [] : [observePoolChanges({ ...context, ...shared, onFailed })]),
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
