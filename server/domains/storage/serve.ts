import type { CephAdapter } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { StatsService } from "../../../gen/stats/stats_pb.ts";
import { createAbsentBackend } from "../../domain/backend.ts";
import { allOf, type DomainServices, namesOf, type ServicesOptions } from "../../domain/domain-services.ts";
import { createCephBackend, createKubernetesBackend } from "./backend.ts";
import { createCrashChanges } from "./crash-changes.ts";
import { observeStorageChanges } from "./events/storage-observer.ts";
import { createStoragePlanners } from "./planners.ts";
import { createStorageResources } from "./resources.ts";
import { createStatsService } from "./service.ts";
import { cephOff, createStorage } from "./storage.ts";
import { createStorageService } from "./storage-service.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/service-handlers.ts";

/** Creates the services for a storage cluster: Ceph, and the Kubernetes cluster that runs it. */
export function createStorageDomain(options: ServicesOptions): DomainServices {
  const services = [StatsService, StorageService];
  const { storage: system } = options.systems;
  if (system === undefined) {
    const missing = "storage is off: set `storage` in the configuration";
    const refusal = () => new InfraError("DOMAIN_OFF", missing);
    return {
      registrations: services.map((service) => registerRefusal(service, refusal)),
      planners: services.map((service) => registerPlanRefusal(service, refusal)),
      backends: [createAbsentBackend("storage", "ceph", "off", namesOf(services), missing)],
    };
  }
  const { log } = options;
  const { ceph, kubernetes } = system;
  const storage = createStorage(system);
  const onFailed = (error: unknown) =>
    log.warn("events of the storage cluster could not be published; retrying", error);
  const observe = (each: CephAdapter) => observeStorageChanges({ ...options, ceph: each, onFailed });
  const crashChanges = ceph && createCrashChanges({ ...options, ceph });
  return {
    registrations: [
      createStatsService(storage),
      crashChanges === undefined
        ? registerRefusal(StorageService, cephOff)
        : createStorageService(storage, crashChanges),
    ],
    planners: [
      crashChanges === undefined
        ? registerPlanRefusal(StorageService, cephOff)
        : createStoragePlanners(crashChanges),
    ],
    backends: [
      ...(ceph === undefined ? [] : [createCephBackend(ceph)]),
      ...(kubernetes === undefined ? [] : [createKubernetesBackend(kubernetes)]),
    ],
    inventory: ceph === undefined ? [] : [createStorageResources(ceph)],
    observe: () => allOf([storage.beginHistory(), ...(ceph === undefined ? [] : [observe(ceph)])]),
  };
}
