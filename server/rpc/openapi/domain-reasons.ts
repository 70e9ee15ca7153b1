import type { ReasonName } from "../../../adapters/host/reasons.ts";

/** Error reasons of a domain's calls that follow from its subject. */
interface DomainReasons {
  readonly every: readonly ReasonName[];
  /** Additional reasons of calls that change something. */
  readonly change: readonly ReasonName[];
}

/** For a domain whose systems may be off, busy, or unable to serve every call. */
const system: readonly ReasonName[] = ["DOMAIN_OFF", "DOMAIN_NOT_BUILT", "NOT_BUILT", "BUSY"];
const tools: readonly ReasonName[] = ["TOOL_MISSING", "TOOL_FAILED", "TOOL_TIMEOUT", "TOOL_OUTPUT"];
const operation: readonly ReasonName[] = ["OPERATION_IN_PROGRESS", "OPERATION_CANCELLED"];
const repository: readonly ReasonName[] = [
  "BACKUP_NOT_FOUND",
  "BACKUP_EXISTS",
  "BACKUP_TOO_YOUNG",
  "BACKUP_DAMAGED",
  "SNAPSHOT_FULL",
  "VOLUME_TOO_SMALL",
  "ENDPOINT_NOT_ALLOWED",
  "REPOSITORY_NOT_FOUND",
  "REPOSITORY_KEY_WRONG",
  "REPOSITORY_DENIED",
  "REPOSITORY_UNREACHABLE",
  "REPOSITORY_LOCKED",
];
const volume: readonly ReasonName[] = [
  "VOLUME_NOT_FOUND",
  "VOLUME_EXISTS",
  "NO_SPACE",
  "VOLUME_IN_USE",
  "VOLUME_PROTECTED",
  "VOLUME_INACTIVE",
];
const libvirt: readonly ReasonName[] = [
  "LIBVIRT_UNAVAILABLE",
  "LIBVIRT_DENIED",
  "LIBVIRT_FAILED",
  "DOMAIN_NOT_FOUND",
  "DOMAIN_STATE",
  "STORAGE_POOL_NOT_FOUND",
  "AGENT_UNRESPONSIVE",
  "HYPERVISOR_NOT_FOUND",
];
const maas: readonly ReasonName[] = [
  "MAAS_UNAVAILABLE",
  "MAAS_DENIED",
  "MAAS_FAILED",
  "MAAS_REFUSED",
  "MACHINE_NOT_FOUND",
];
const workload: readonly ReasonName[] = [
  "WORKLOAD_UNAVAILABLE",
  "WORKLOAD_DENIED",
  "WORKLOAD_FAILED",
  "CLUSTER_NOT_FOUND",
  "CLUSTER_OF_OTHER_MAAS",
  "CLUSTER_ENDPOINT_MISSING",
  "POOL_NOT_FOUND",
  "MASTER_KEY_MISMATCH",
];

const domains: Readonly<Record<string, DomainReasons>> = {
  volumes: {
    every: [...system, ...tools, "DEVICE_CLASS_NOT_FOUND", "VOLUME_GROUP_GONE"],
    change: [...operation, ...volume, "SHRINK_NOT_ALLOWED", ...repository],
  },
  backups: {
    every: [...system, "BACKUP_NOT_FOUND"],
    change: [...operation, ...tools, ...repository, ...volume, "DEVICE_CLASS_NOT_FOUND", "VOLUME_GROUP_GONE"],
  },
  hypervisors: {
    every: [...system, ...tools, ...libvirt],
    change: [
      ...operation,
      ...repository,
      ...volume,
      "VOLUME_GROUP_GONE",
      "DOMAIN_EXISTS",
      "STORAGE_VOLUME_NOT_FOUND",
      "STORAGE_VOLUME_EXISTS",
      "STORAGE_VOLUME_IN_USE",
      "NETWORK_NOT_FOUND",
      "NODE_DEVICE_NOT_FOUND",
      "HYPERVISOR_RUNNING",
      "HYPERVISOR_OFF",
      "HYPERVISOR_NOT_READY",
      "POOL_CANNOT_GROW",
      "POOL_CANNOT_SHRINK",
      "POOL_FIXED",
      "DEVICE_NOT_USABLE",
    ],
  },
  storage: {
    every: [
      ...system,
      ...tools,
      "CEPH_UNAVAILABLE",
      "CEPH_DENIED",
      "CEPH_FAILED",
      "CEPH_OPERATOR_MISSING",
      "FIGURE_UNAVAILABLE",
      "KUBERNETES_UNAVAILABLE",
      "KUBERNETES_DENIED",
      "KOOR_CLUSTER_NOT_FOUND",
    ],
    change: ["CRASH_NOT_FOUND"],
  },
  clusters: {
    every: [...system, ...maas, ...workload],
    change: [
      ...operation,
      "MACHINE_TAKEN",
      "NO_MACHINE",
      "MACHINE_STATE",
      "MACHINE_LOCKED",
      "NO_ADDRESS",
      "ADDRESS_TAKEN",
      "MACHINE_FAILED",
      "MACHINE_IN_USE",
      "STRAY_NOT_FOUND",
      "STRAY_NOT_ADOPTABLE",
      "CLUSTER_EXISTS",
      "CLUSTER_STOPPING",
      "CLUSTER_CHANGED",
      "NO_ENDPOINT",
      "NO_IMAGE",
      "POOL_EXISTS",
      "POOL_STOPPING",
      "SCALE_TO_ZERO",
      "UPGRADE_IN_PROGRESS",
      "UPGRADE_REFUSED",
    ],
  },
  pods: {
    every: [
      ...system,
      "PODMAN_UNAVAILABLE",
      "PODMAN_DENIED",
      "PODMAN_FAILED",
      "POD_NOT_FOUND",
      "CONTAINER_NOT_FOUND",
      "IMAGE_NOT_FOUND",
      "LOGS_UNAVAILABLE",
    ],
    change: ["POD_STATE", "POD_START_FAILED", "IMAGE_IN_USE", "IMAGE_PULL_FAILED"],
  },
  // Their methods have no common errors; method-errors.ts lists each.
  auth: { every: [], change: [] },
  audit: { every: [], change: [] },
  // Their changes also require the role and service of the RPC that began the operation.
  operations: {
    every: ["OPERATION_NOT_FOUND", "HISTORY_GONE"],
    change: [
      "SERVICE_NOT_ALLOWED",
      "OPERATION_IN_PROGRESS",
      "OPERATION_ENDED",
      "OPERATION_NOT_RETRYABLE",
      "POINT_OF_NO_RETURN",
      "DOMAIN_OFF",
      "BUSY",
    ],
  },
  inventory: { every: [], change: [] },
  events: { every: ["HISTORY_GONE", "SUBSCRIBER_TOO_SLOW"], change: [] },
  system: { every: ["SERVICE_NOT_FOUND"], change: [] },
};

/** Returns the error reasons that follow from a domain's subject. A plan can have those of every domain's changes. */
export function domainReasons(domain: string, isMutation: boolean): readonly ReasonName[] {
  if (domain === "plan") {
    const all = Object.values(domains).flatMap(({ every, change }) => [...every, ...change]);
    return ["NOT_PLANNABLE", "ROLE_REQUIRED", ...all];
  }
  const own = domains[domain];
  if (own === undefined) {
    throw new TypeError(`the domain ${domain} has no row of its errors`);
  }
  return isMutation ? [...own.every, ...own.change] : own.every;
}
