import { existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Client } from "@connectrpc/connect";
import { hasReason, InfraError } from "../../adapters/host/infra-error.ts";
import type { Cluster } from "../../gen/cnct/kaas/api/api_pb.ts";
import type { AuditService } from "../../gen/hostplane/v1/audit_pb.ts";
import type { BackupService } from "../../gen/hostplane/v1/backup_pb.ts";
import type { ClusterService } from "../../gen/hostplane/v1/cluster_pb.ts";
import type { EventService } from "../../gen/hostplane/v1/event_pb.ts";
import type { InventoryService } from "../../gen/hostplane/v1/inventory_pb.ts";
import type { OperationService } from "../../gen/hostplane/v1/operation_pb.ts";
import type { PodService } from "../../gen/hostplane/v1/pod_pb.ts";
import type { StorageService } from "../../gen/hostplane/v1/storage_pb.ts";
import type { StoragePoolService } from "../../gen/hostplane/v1/storage_pool_pb.ts";
import type { UserService } from "../../gen/hostplane/v1/user_pb.ts";
import type { OperationsService } from "../../gen/operations/v1/operations_pb.ts";
import type { LVService } from "../../gen/proto/lvmd_pb.ts";
import type { StatsService } from "../../gen/stats/stats_pb.ts";
import type { PublicAPI } from "../../gen/v1alpha/api_pb.ts";
import type { Config } from "../gateway/config/schema.ts";
import { adminSocketOf, shortSocketPath } from "../rpc/listener/admin-listener.ts";
import { storeReasons } from "../store/reasons.ts";
import type { StoreBackup } from "../web/store-backup.ts";
import { gatewaySecrets } from "./gateway-secrets.ts";

/** A gateway's services, as an admin calls them. */
export interface AdminClient {
  readonly users: Client<typeof UserService>;
  readonly audit: Client<typeof AuditService>;
  readonly operations: Client<typeof OperationService>;
  readonly events: Client<typeof EventService>;
  readonly inventory: Client<typeof InventoryService>;
  readonly backups: Client<typeof BackupService>;
  readonly volumes: Client<typeof LVService>;
  readonly hypervisors: Client<typeof OperationsService>;
  readonly storagePool: Client<typeof StoragePoolService>;
  readonly storage: Client<typeof StorageService>;
  readonly stats: Client<typeof StatsService>;
  readonly pods: Client<typeof PodService>;
  readonly publicApi: Client<typeof PublicAPI>;
  readonly kaas: Client<typeof Cluster>;
  readonly clusters: Client<typeof ClusterService>;
  /** @param file absolute path */
  backup(file: string): Promise<StoreBackup>;
}

/** The gateway to administer. */
export interface AdminTarget {
  readonly config: Config;
  readonly isSandbox: boolean;
  readonly version: string;
  /**
   * Require a running gateway instead of starting one for the command: for work that only makes sense on a running gateway, or
   * that would lock the store of a gateway about to start.
   */
  readonly mustRun: boolean;
}

/**
 * Runs `work` against the gateway of a data directory: through its admin socket when it is running. Otherwise this process
 * serves the same services on the same store, on a private socket, until `work` is done.
 * @throws InfraError STORE_MISSING, STORE_IN_USE, ...; Error when the data belong to another user, or when `mustRun` is set
 *   and no gateway is running; what `work` throws
 */
export async function withAdminClient<Result>(
  target: AdminTarget,
  work: (client: AdminClient) => Promise<Result>,
): Promise<Result> {
  const { dataDirectoryOf } = await import("../gateway/open-data.ts");
  const directory = dataDirectoryOf(target.config, target.isSandbox);
  const socket = adminSocketOf(directory);
  if (await isAnswered(socket)) {
    return work(await createAdminClient(socket));
  }
  if (target.mustRun) {
    const hint = await hintOfOther(target);
    throw new Error(`no gateway is running with the data in ${directory}, and this command needs one${hint}`);
  }
  await assertOwnStore(target, directory);
  const ownSocket = join(directory, `admin-${process.pid}.sock`);
  let gateway: { close(): Promise<void> };
  try {
    gateway = await startForAdmin(target, ownSocket);
  } catch (error) {
    // A gateway may have started in the meantime.
    if (hasReason(error, storeReasons.STORE_IN_USE) && (await isAnswered(socket))) {
      return work(await createAdminClient(socket));
    }
    throw error;
  }
  try {
    return await work(await createAdminClient(ownSocket));
  } finally {
    await gateway.close();
  }
}

/** Hints at the other gateway of a data directory, sandbox or real, if that one is running. */
async function hintOfOther({ config, isSandbox }: AdminTarget): Promise<string> {
  const { dataDirectoryOf } = await import("../gateway/open-data.ts");
  const other = dataDirectoryOf(config, !isSandbox);
  const isRunning = await isAnswered(adminSocketOf(other)).catch(() => false);
  const [what, how] = isSandbox ? ["a real gateway", "leave out"] : ["a sandbox", "add"];
  return isRunning ? `; ${what} is running with the data in ${other}: ${how} --sandbox to use it` : "";
}

/** Starts a gateway without systems or listeners, except for its own admin socket. */
async function startForAdmin({ config, isSandbox, version }: AdminTarget, adminSocket: string) {
  const [{ startGateway }, { pino }] = await Promise.all([
    import("../gateway/start-gateway.ts"),
    import("pino"),
  ]);
  const {
    volumes: _volumes,
    hypervisors: _hypervisors,
    storage: _storage,
    pods: _pods,
    clusters: _clusters,
    tracing: _tracing,
    ...rest
  } = config;
  return startGateway({
    config: { ...rest, listen: [] },
    isSandbox,
    version,
    logger: pino({ level: "silent" }),
    secrets: gatewaySecrets(process.env),
    onFatal: (error) => {
      throw error;
    },
    adminSocket,
    isForCommand: true,
  });
}

async function createAdminClient(socket: string): Promise<AdminClient> {
  const [
    { createClient },
    { createConnectTransport },
    { AuditService },
    { BackupService },
    { EventService },
    { InventoryService },
    { OperationService },
    { StorageService },
    { StoragePoolService },
    { UserService },
    { OperationsService },
    { LVService },
    { StatsService },
    { PodService },
    { PublicAPI },
    { Cluster },
    { ClusterService },
    { postBackup },
  ] = await Promise.all([
    import("@connectrpc/connect"),
    import("@connectrpc/connect-node"),
    import("../../gen/hostplane/v1/audit_pb.ts"),
    import("../../gen/hostplane/v1/backup_pb.ts"),
    import("../../gen/hostplane/v1/event_pb.ts"),
    import("../../gen/hostplane/v1/inventory_pb.ts"),
    import("../../gen/hostplane/v1/operation_pb.ts"),
    import("../../gen/hostplane/v1/storage_pb.ts"),
    import("../../gen/hostplane/v1/storage_pool_pb.ts"),
    import("../../gen/hostplane/v1/user_pb.ts"),
    import("../../gen/operations/v1/operations_pb.ts"),
    import("../../gen/proto/lvmd_pb.ts"),
    import("../../gen/stats/stats_pb.ts"),
    import("../../gen/hostplane/v1/pod_pb.ts"),
    import("../../gen/v1alpha/api_pb.ts"),
    import("../../gen/cnct/kaas/api/api_pb.ts"),
    import("../../gen/hostplane/v1/cluster_pb.ts"),
    import("./post-backup.ts"),
  ]);
  const socketPath = shortSocketPath(socket);
  const transport = createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath },
  });
  return {
    users: createClient(UserService, transport),
    audit: createClient(AuditService, transport),
    operations: createClient(OperationService, transport),
    events: createClient(EventService, transport),
    inventory: createClient(InventoryService, transport),
    backups: createClient(BackupService, transport),
    volumes: createClient(LVService, transport),
    hypervisors: createClient(OperationsService, transport),
    storagePool: createClient(StoragePoolService, transport),
    storage: createClient(StorageService, transport),
    stats: createClient(StatsService, transport),
    pods: createClient(PodService, transport),
    publicApi: createClient(PublicAPI, transport),
    kaas: createClient(Cluster, transport),
    clusters: createClient(ClusterService, transport),
    backup: (file) => postBackup(socketPath, file),
  };
}

/** Reports whether a gateway answers on the socket. @throws Error when this user is not allowed to open the socket */
function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(shortSocketPath(socket));
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EACCES" || error.code === "EPERM") {
        reject(
          new Error(`permission denied on ${socket}: run this command as the gateway's user or as root`),
        );
      } else {
        resolve(false);
      }
    });
  });
}

/** Files that another user created here would be inaccessible to the gateway. */
async function assertOwnStore({ config, isSandbox }: AdminTarget, directory: string): Promise<void> {
  const [{ dataDirectoryOf }, { databaseFile }] = await Promise.all([
    import("../gateway/open-data.ts"),
    import("../store/open-store.ts"),
  ]);
  const file = databaseFile(directory);
  if (!isSandbox && config.store !== "sqlite") {
    return;
  }
  if (!existsSync(file)) {
    const serve = isSandbox ? "hostplane serve --sandbox" : "hostplane serve";
    const hasSandbox = !isSandbox && existsSync(databaseFile(dataDirectoryOf(config, true)));
    const hint = hasSandbox ? "; for the sandbox of this directory add --sandbox" : "";
    throw new InfraError(
      storeReasons.STORE_MISSING,
      `database ${file} not found: run \`${serve}\` once to create it${hint}`,
    );
  }
  const { uid } = statSync(file);
  if (process.getuid !== undefined && process.getuid() !== uid) {
    throw new Error(
      `no gateway is running, and ${file} belongs to another user (uid ${uid}): run this command as that user (sudo -u '#${uid}')`,
    );
  }
}
