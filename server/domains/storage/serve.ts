import type { CephAdapter } from "../../../adapters/ceph/adapter.ts";
import { StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { plannersOf } from "../../domain/change.ts";
import { allOf, type DomainContext, type DomainServices } from "../../domain/domain-services.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/call/service-handlers.ts";
import { createArchiveCrash } from "./changes/archive-crash.ts";
import { observeStorageChanges } from "./events/storage-observer.ts";
import { createCephBackend, createKubernetesBackend } from "./monitoring/backend.ts";
import { createCephFigures, createNodeFigures } from "./monitoring/figures.ts";
import { createStorageMetrics } from "./monitoring/metrics.ts";
import { createStorageResources } from "./monitoring/resources.ts";
import { createStatsService } from "./service.ts";
import { cephOff, createStorage } from "./storage.ts";
import { createStorageService } from "./storage-service.ts";
import type { StorageSystem } from "./system/system.ts";

/** Creates the services for a storage cluster: Ceph, and the Kubernetes cluster that runs it. */
export function serveStorage(system: StorageSystem, context: DomainContext): DomainServices {
  const { log } = context;
  const { ceph, kubernetes } = system;
  const storage = createStorage(system);
  const onFailed = (error: unknown) =>
    log.warn("events of the storage cluster could not be published; retrying", error);
  const observe = (each: CephAdapter) => observeStorageChanges({ ...context, ceph: each, onFailed });
  const changes = ceph && { archiveCrash: createArchiveCrash({ ...context, ceph }) };
  return {
    registrations: [
      createStatsService(storage),
      changes === undefined
        ? registerRefusal(StorageService, cephOff)
        : createStorageService(storage, changes),
    ],
    planners: [
      changes === undefined
        ? registerPlanRefusal(StorageService, cephOff)
        : plannersOf(StorageService, changes),
    ],
    backends: [
      ...(ceph === undefined ? [] : [createCephBackend(ceph)]),
      ...(kubernetes === undefined ? [] : [createKubernetesBackend(kubernetes)]),
    ],
    inventory: ceph === undefined ? [] : [createStorageResources(ceph)],
    figures: [
      ...(ceph === undefined ? [] : [createCephFigures(ceph)]),
      ...(kubernetes === undefined ? [] : [createNodeFigures(kubernetes)]),
    ],
    metrics: ceph === undefined ? [] : [createStorageMetrics(ceph)],
    // Ceph reports no changes by itself: while its events have subscribers it is polled more often.
    onSubscriber: () => ceph?.subscribe(() => {}) ?? (() => {}),
    observe: () => allOf([storage.beginHistory(), ...(ceph === undefined ? [] : [observe(ceph)])]),
  };
}
