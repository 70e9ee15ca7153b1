import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { BackupService } from "../../gen/hostplane/v1/backup_pb.ts";
import { EventService } from "../../gen/hostplane/v1/event_pb.ts";
import { InventoryService } from "../../gen/hostplane/v1/inventory_pb.ts";
import { OperationService } from "../../gen/hostplane/v1/operation_pb.ts";
import { PlanService } from "../../gen/hostplane/v1/plan_pb.ts";
import { SystemService } from "../../gen/hostplane/v1/system_pb.ts";
import { LVService, VGService } from "../../gen/lvmd/served/lvmd_pb.ts";
import { type Backend, createAbsentBackend } from "../domain/backend.ts";
import { createBackupsDomain } from "../domains/backups/serve.ts";
import { createAbsentBackupSource } from "../backups/backup-source.ts";
import { createAbsentResticBackend, createResticBackend } from "../backups/restic-backend.ts";
import { createClustersDomain } from "../domains/clusters/serve.ts";
import {
  type Activity,
  allOf,
  type DomainServices,
  namesOf,
  type ServicesOptions,
} from "../domain/domain-services.ts";
import { createAuditService } from "../domains/audit/service.ts";
import { detailFromJson } from "../domains/events/event-messages.ts";
import { createEventService } from "../domains/events/service.ts";
import { createInventoryService } from "../domains/inventory/service.ts";
import { operationEventDetail } from "../domains/operations/operation-messages.ts";
import { createOperationService } from "../domains/operations/service.ts";
import { createPlanService } from "../domains/plan/service.ts";
import { createHealthService } from "../domains/system/health.ts";
import { createReflectionServices, reflectionServices } from "../domains/system/reflection.ts";
import { createSystemService } from "../domains/system/service.ts";
import { createStoreBackend } from "../domains/system/store-backend.ts";
import { createLvmBackend } from "../domains/volumes/backend.ts";
import { volumeBackupFacts } from "../domains/volumes/backups/volume-backup-source.ts";
import { createVolumeBackups } from "../domains/volumes/backups/volume-backups.ts";
import { createOwnChanges } from "../domains/volumes/events/own-changes.ts";
import { observeVolumeChanges } from "../domains/volumes/events/volume-observer.ts";
import { createLvPlanners } from "../domains/volumes/planners.ts";
import { createVolumeResources } from "../domains/volumes/resources.ts";
import {
  createLvService,
  createVgService,
  shownLvServices,
  shownVgServices,
} from "../domains/volumes/service.ts";
import { createVolumes } from "../domains/volumes/volumes.ts";
import { createHypervisorsDomain } from "../domains/hypervisors/serve.ts";
import { methodRuleOf, storeServices } from "./method-rules.ts";
import { registerPlanRefusal } from "../operations/planner.ts";
import { createPodsDomain } from "../domains/pods/serve.ts";
import type { LvmdProtocol } from "../rpc/call.ts";
import { registerRefusal } from "../rpc/service-handlers.ts";
import { createStorageDomain } from "../domains/storage/serve.ts";
import type { Systems } from "./systems.ts";

export interface Services extends Pick<DomainServices, "registrations" | "backends"> {
  readonly storeBackend: Backend;
  /** Reports whether PlanService can plan a change by the method. */
  isPlannable(method: DescMethod): boolean;
  /** Starts publishing events of the systems. */
  observe(): Activity;
  /** Starts the scheduled work. It must be closed before the operations are. */
  beginSchedules(): Activity;
}

/** Creates every service of the contract, and every system that ListBackends returns. */
export function createServices(options: ServicesOptions): Services {
  const storeBackend = createStoreBackend({
    ...options,
    kind: options.facts.isSandbox ? "sandbox" : "real",
    services: storeServices,
  });
  const systemDomains = [createVolumesDomain(options), createHypervisorsDomain(options)];
  const backupSources = systemDomains.flatMap(({ backupSource }) => backupSource ?? []);
  const domains: readonly DomainServices[] = [
    ...systemDomains,
    createBackupsDomain(options, backupSources),
    createStorageDomain(options),
    createPodsDomain(options),
    createClustersDomain(options),
    { ...options.auth, backends: [] },
    { registrations: [createAuditService(options.store)], planners: [], backends: [] },
  ];
  const backends = domains
    .flatMap((domain) => domain.backends)
    .concat(storeBackend)
    .toSorted((a, b) => (`${a.domain}/${a.name}` < `${b.domain}/${b.name}` ? -1 : 1));
  const registrations = domains.flatMap((domain) => domain.registrations);
  const otherServices = [
    OperationService,
    EventService,
    InventoryService,
    PlanService,
    SystemService,
    Health,
  ];
  const services = [...registrations.map(({ service }) => service), ...otherServices];
  const shownServices = (lvmd: LvmdProtocol) => [
    ...registrations.map(({ service, shown }) => shown?.[lvmd] ?? service),
    ...otherServices,
  ];
  const allServices = [...services, ...reflectionServices];
  const planners = domains.flatMap((domain) => domain.planners);
  const names = namesOf(allServices);
  return {
    registrations: [
      ...registrations,
      createOperationService({ ...options, services: allServices, ruleOf: methodRuleOf }),
      createEventService({
        events: options.events,
        details: {
          operations: operationEventDetail,
          volumes: detailFromJson,
          hypervisors: detailFromJson,
          storage: detailFromJson,
          pods: detailFromJson,
          clusters: detailFromJson,
        },
        isSandbox: options.facts.isSandbox,
        maxMessageBytes: options.maxMessageBytes,
        log: options.log,
        onSubscriber: (topics) => watchStorage(options.systems, topics),
      }),
      createInventoryService(domains.flatMap(({ inventory }) => inventory ?? [])),
      createPlanService({ services: allServices, planners, ruleOf: methodRuleOf }),
      createSystemService(options.facts, backends),
      createHealthService(backends, names),
      ...createReflectionServices({ backups: shownServices("backups"), current: shownServices("current") }),
    ],
    backends,
    storeBackend,
    isPlannable: (method) =>
      planners.find(({ service }) => service.typeName === method.parent.typeName)?.plannerOf(method) !==
      undefined,
    observe: () => allOf(domains.flatMap(({ observe }) => observe?.() ?? [])),
    beginSchedules: () => allOf(domains.flatMap(({ beginSchedules }) => beginSchedules?.() ?? [])),
  };
}

/** Polls Ceph more often while there are subscribers for its events, because Ceph reports no changes by itself. */
function watchStorage({ storage }: Systems, topics: readonly string[]): () => void {
  const isWanted = topics.length === 0 || topics.includes("storage");
  return (isWanted ? storage?.ceph?.subscribe(() => {}) : undefined) ?? (() => {});
}

function createVolumesDomain(options: ServicesOptions): DomainServices {
  const services = [LVService, VGService];
  const { volumes: system } = options.systems;
  if (system === undefined) {
    const missing = "volumes are off: set `volumes.deviceClasses` in the configuration";
    const refusal = () => new InfraError("DOMAIN_OFF", missing);
    return {
      registrations: services.map((service) =>
        registerRefusal(service, refusal, service === LVService ? shownLvServices : shownVgServices),
      ),
      planners: services.map((service) => registerPlanRefusal(service, refusal)),
      backends: [
        createAbsentBackend("volumes", "lvm", "off", namesOf([...services, BackupService]), missing),
      ],
      backupSource: createAbsentBackupSource(volumeBackupFacts),
    };
  }
  const own = createOwnChanges(system.lvm);
  const volumes = createVolumes({ ...options, ...system, lvm: own.lvm });
  const { backup } = system;
  const backups =
    backup &&
    createVolumeBackups({
      ...options,
      ...system,
      ...backup,
      lvm: own.lvm,
      keySeal: options.repositoryKeySeal,
    });
  return {
    registrations: [createLvService(volumes, backups), createVgService(volumes)],
    planners: [createLvPlanners(volumes, backups)],
    inventory: [createVolumeResources(system.lvm, system.deviceClasses)],
    backends: [
      createLvmBackend(system.lvm, volumes),
      backup === undefined
        ? createAbsentResticBackend("volumes", volumeBackupFacts.configKey)
        : createResticBackend({ ...options, ...backup, domain: "volumes", kindStart: "volumes" }),
    ],
    backupSource: backups?.source ?? createAbsentBackupSource(volumeBackupFacts),
    ...(backups === undefined ? {} : { beginSchedules: backups.schedules.begin }),
    observe: () =>
      observeVolumeChanges({
        ...options,
        ...system,
        own,
        onFailed: (error) => options.log.warn("events of volumes could not be published; retrying", error),
      }),
  };
}
