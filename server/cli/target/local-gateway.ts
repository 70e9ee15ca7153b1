import { existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { hasReason, InfraError } from "../../../adapters/host/infra-error.ts";
import type { Config } from "../../gateway/config/schema.ts";
import { adminSocketOf, shortSocketPath } from "../../rpc/listener/admin-listener.ts";
import { storeReasons } from "../../store/reasons.ts";
import { gatewaySecrets } from "../serve/gateway-secrets.ts";
import type { Session } from "../table/session.ts";
import { createTransportSession } from "./transport-session.ts";

/** A gateway of this host. */
export interface LocalTarget {
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
export async function withLocalGateway<Result>(
  target: LocalTarget,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { dataDirectoryOf } = await import("../../gateway/open-data.ts");
  const directory = dataDirectoryOf(target.config, target.isSandbox);
  const socket = adminSocketOf(directory);
  if (await isAnswered(socket)) {
    return work(await openSession(socket));
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
      return work(await openSession(socket));
    }
    throw error;
  }
  try {
    return await work(await openSession(ownSocket));
  } finally {
    await gateway.close();
  }
}

/** Hints at the other gateway of a data directory, sandbox or real, if that one is running. */
async function hintOfOther({ config, isSandbox }: LocalTarget): Promise<string> {
  const { dataDirectoryOf } = await import("../../gateway/open-data.ts");
  const other = dataDirectoryOf(config, !isSandbox);
  const isRunning = await isAnswered(adminSocketOf(other)).catch(() => false);
  const [what, how] = isSandbox ? ["a real gateway", "leave out"] : ["a sandbox", "add"];
  return isRunning ? `; ${what} is running with the data in ${other}: ${how} --sandbox to use it` : "";
}

/** Starts a gateway without systems or listeners, except for its own admin socket. */
async function startForAdmin({ config, isSandbox, version }: LocalTarget, adminSocket: string) {
  const [{ startGateway }, { pino }] = await Promise.all([
    import("../../gateway/start-gateway.ts"),
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

async function openSession(socket: string): Promise<Session> {
  const { createConnectTransport } = await import("@connectrpc/connect-node");
  const socketPath = shortSocketPath(socket);
  const transport = createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath },
  });
  return createTransportSession(transport, socketPath);
}

/** Calls the gateway of a data directory if it is running. Returns undefined if it is not. */
export async function withRunningGateway<Result>(
  target: Pick<LocalTarget, "config" | "isSandbox">,
  work: (session: Session) => Promise<Result>,
): Promise<Result | undefined> {
  const { dataDirectoryOf } = await import("../../gateway/open-data.ts");
  const socket = adminSocketOf(dataDirectoryOf(target.config, target.isSandbox));
  return (await isAnswered(socket)) ? work(await openSession(socket)) : undefined;
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
async function assertOwnStore({ config, isSandbox }: LocalTarget, directory: string): Promise<void> {
  const [{ dataDirectoryOf }, { databaseFile }] = await Promise.all([
    import("../../gateway/open-data.ts"),
    import("../../store/open-store.ts"),
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
