import type { Client } from "@connectrpc/connect";
import { Cluster } from "../gen/cnct/kaas/api/api_pb.ts";
import { AuditService } from "../gen/hostplane/v1/audit_pb.ts";
import { BackupService } from "../gen/hostplane/v1/backup_pb.ts";
import { ClusterService } from "../gen/hostplane/v1/cluster_pb.ts";
import { EventService } from "../gen/hostplane/v1/event_pb.ts";
import { HistoryService } from "../gen/hostplane/v1/history_pb.ts";
import { InventoryService } from "../gen/hostplane/v1/inventory_pb.ts";
import { OperationService } from "../gen/hostplane/v1/operation_pb.ts";
import { PlanService } from "../gen/hostplane/v1/plan_pb.ts";
import { PodService } from "../gen/hostplane/v1/pod_pb.ts";
import { StorageService } from "../gen/hostplane/v1/storage_pb.ts";
import { StoragePoolService } from "../gen/hostplane/v1/storage_pool_pb.ts";
import { SystemService } from "../gen/hostplane/v1/system_pb.ts";
import { UserService } from "../gen/hostplane/v1/user_pb.ts";
import { VolumeService } from "../gen/hostplane/v1/volume_pb.ts";
import { OperationsService } from "../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../gen/proto/lvmd_pb.ts";
import { AuthService } from "../gen/services/auth/auth_pb.ts";
import { StatsService } from "../gen/stats/stats_pb.ts";
import { PublicAPI } from "../gen/v1alpha/api_pb.ts";

/** The services of the gateway, by their names in the client. Named types keep the package's declarations short. */
export interface Services {
  readonly auth: typeof AuthService;
  readonly users: typeof UserService;
  readonly audit: typeof AuditService;
  readonly system: typeof SystemService;
  readonly plans: typeof PlanService;
  readonly operations: typeof OperationService;
  readonly events: typeof EventService;
  readonly inventory: typeof InventoryService;
  readonly history: typeof HistoryService;
  readonly backups: typeof BackupService;
  readonly volumes: typeof VolumeService;
  readonly logicalVolumes: typeof LVService;
  readonly volumeGroups: typeof VGService;
  readonly storage: typeof StorageService;
  readonly stats: typeof StatsService;
  readonly storagePool: typeof StoragePoolService;
  readonly hypervisors: typeof OperationsService;
  readonly clusters: typeof ClusterService;
  /** `cnct.kaas.api.Cluster`, which creates and changes Kubernetes clusters. `clusters` has what it lacks. */
  readonly kaas: typeof Cluster;
  readonly pods: typeof PodService;
  /** `v1alpha.PublicAPI`, the read-only API of rkt's clients. `pods` also changes pods. */
  readonly podApi: typeof PublicAPI;
}

export const services: Services = {
  auth: AuthService,
  users: UserService,
  audit: AuditService,
  system: SystemService,
  plans: PlanService,
  operations: OperationService,
  events: EventService,
  inventory: InventoryService,
  history: HistoryService,
  backups: BackupService,
  volumes: VolumeService,
  logicalVolumes: LVService,
  volumeGroups: VGService,
  storage: StorageService,
  stats: StatsService,
  storagePool: StoragePoolService,
  hypervisors: OperationsService,
  clusters: ClusterService,
  kaas: Cluster,
  pods: PodService,
  podApi: PublicAPI,
};

/** A typed client of each service. */
export type ServiceClients = {
  readonly [Name in keyof Services]: Client<Services[Name]>;
};
