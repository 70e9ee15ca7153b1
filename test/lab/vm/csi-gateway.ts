import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";

/** A gateway with the CSI driver, and an empty thin pool for its volumes. */
export interface CsiGateway {
  readonly gateway: GatewayProcess;
  /** Directory below which volumes may be mounted. */
  readonly root: string;
  readonly socket: string;
  /** Starts the gateway again after it was killed. */
  restart(): Promise<GatewayProcess>;
  /** Stops it, and removes the pool with everything in it. */
  stop(): Promise<void>;
}

/** Runs a shell command line in the mount namespace of process 1, where the mounts must be. Returns its output. */
export async function hostShell(command: string): Promise<string> {
  const argv = ["--mount=/proc/1/ns/mnt", "--", "sh", "-ec", command];
  return (await promisify(execFile)("nsenter", argv, { maxBuffer: 2 ** 26 })).stdout;
}

/** Returns the paths of the host's mounts below a directory. */
export async function mountsBelow(directory: string): Promise<string[]> {
  const lines = (await readFile("/proc/1/mountinfo", "utf8")).split("\n");
  return lines.flatMap((line) => line.split(" ")[4] ?? []).filter((path) => path.startsWith(`${directory}/`));
}

/**
 * Starts a gateway with the CSI driver. Its device classes are `thin`, the default, and `thick`.
 * @param volumeGroup an empty volume group of at least 2 GiB
 */
export async function startCsiGateway(volumeGroup: string): Promise<CsiGateway> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-csi-"));
  const root = join(folder, "root");
  const socket = join(folder, "csi.sock");
  mkdirSync(root);
  await hostShell(`lvcreate -q -y -T -L 1g -n pool ${volumeGroup}`);
  const services = ["csi.v1.Identity", "csi.v1.Controller", "csi.v1.Node"];
  const volumes = {
    deviceClasses: [
      { name: "thin", volumeGroup, thinPool: "pool", overprovision: 100, default: true },
      { name: "thick", volumeGroup, spareGiB: 0 },
    ],
    csi: { roots: [root] },
  };
  const access = { auth: "none", role: "operator", services };
  const listen = [
    { address: "127.0.0.1:0", ...access },
    { address: `unix:${socket}`, ...access },
  ];
  const start = () => startGatewayProcess(join(folder, "hostplane.yaml"), volumes, { listen });
  let gateway = await start();
  return {
    get gateway() {
      return gateway;
    },
    root,
    socket,
    async restart() {
      gateway = await start();
      return gateway;
    },
    async stop() {
      await gateway.kill("SIGTERM");
      await hostShell(`lvremove -q -y ${volumeGroup}`);
      rmSync(folder, { recursive: true });
    },
  };
}
