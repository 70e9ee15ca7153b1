import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { StatsService } from "../../../gen/stats/stats_pb.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { storageCallReasons } from "./call-reasons.ts";
import { storageSchema } from "./config.ts";
import { storageResourceTypes } from "./monitoring/resource-types.ts";
import type { StorageSystem } from "./system/system.ts";

/** A Ceph cluster, and the Kubernetes cluster that runs it. */
export const storageDomain = defineDomain<"storage", typeof storageSchema, StorageSystem>({
  name: "storage",
  services: [
    { service: StatsService },
    { service: StorageService, reasons: { ListCrashes: [cephReasons.CRASH_NOT_FOUND] } },
  ],
  resourceTypes: [storageResourceTypes],
  hasEvents: true,
  config: {
    schema: storageSchema,
    description:
      "A Ceph cluster and the Kubernetes cluster that it runs on (`stats.StatsService`). Off if absent.",
  },
  off: { backend: "ceph", message: "storage is off: set `storage` in the configuration" },
  reasons: storageCallReasons,
  openReal: async (config) => (await import("./system/open-real.ts")).openRealStorage(config),
  openSandbox: async (world) => (await import("./system/open-sandbox.ts")).openSandboxStorage(world),
  inspect: async (config) => (await import("./doctor/doctor.ts")).inspectStorage(config),
  serve: async (system, context) => (await import("./serve.ts")).serveStorage(system, context),
});
