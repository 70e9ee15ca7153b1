import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";
import type { MachineChange } from "../../../adapters/maas/fake/changed-machine.ts";
import type { FakeMachine } from "../../../adapters/maas/fake/machine.ts";
import { type MaasFake, startMaasFake } from "../../../adapters/maas/fake/server.ts";

/** Machines of a lab: containers with systemd, or emulated virtual machines. */
export type MachineKind = "container" | "vm";

/** Returns the path of the script that creates, starts and destroys machines of this kind and their shared network. */
export function machineScriptOf(kind: MachineKind): string {
  const name = kind === "vm" ? "vm-machine.sh" : "machine.sh";
  return fileURLToPath(new URL(`kubernetes-machine/${name}`, import.meta.url));
}

export const addressPrefix = "10.77.0";

/** What an image lacks, for a machine that cannot become a node. */
export interface Defect {
  /** A file of the root file system. */
  readonly file?: string;
  /** A container image. */
  readonly containerImage?: string;
}

/** A fake MAAS whose machines boot: deploying one starts it with the user data, releasing it destroys it. */
export interface KubernetesMachines {
  readonly maas: MaasFake;
  /** In the format of MAAS, `consumer:token:secret`. */
  readonly apiKey: string;
  readonly endpointAddresses: string;
  readonly owned: () => readonly FakeMachine[];
  /** Gives machines that are deployed from now on a defect; none if undefined. */
  setDefect(defect: Defect | undefined): void;
  /** Cuts a machine's power without MAAS noticing. */
  kill(hostname: string): Promise<void>;
  reboot(hostname: string): Promise<void>;
  /** Runs a program on a machine; returns its stdout. */
  run(hostname: string, ...command: readonly string[]): Promise<string>;
  /** Returns the output of a machine's console and cloud-init, for a failed test. */
  log(hostname: string): Promise<string>;
  /** Resolves when no machine is being started or stopped. */
  idle(): Promise<unknown>;
}

export interface KubernetesMachinesOptions {
  readonly kind: MachineKind;
  /** Directory of the lab, as in `KUBELAB_DIR`. */
  readonly directory: string;
  /** Image directories by the images' names in MAAS. */
  readonly images: Readonly<Record<string, string>>;
  readonly machines: number;
}

/** Returns why machines of this kind cannot be started here, or false; for tap's `skip` option. */
export function machinesSkipReason(kind: MachineKind): string | false {
  if (process.getuid?.() !== 0) {
    return "machines need root";
  }
  if (kind === "vm") {
    return existsSync("/dev/net/tun") ? false : "virtual machines need /dev/net/tun";
  }
  return existsSync("/sys/fs/cgroup/memory") ? false : "machines need cgroup v1";
}

const execute = promisify(execFile);
const account = "kaas";

export async function startKubernetesMachines(
  t: Test,
  { kind, directory, images, machines }: KubernetesMachinesOptions,
): Promise<KubernetesMachines> {
  const machineScript = machineScriptOf(kind);
  const script = async (...args: readonly string[]) => {
    const env = { ...process.env, KUBELAB_DIR: directory, KUBELAB_PREFIX: addressPrefix };
    return (await execute(machineScript, args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  };
  const key = () => randomBytes(16).toString("hex");
  const apiKey = { consumer: key(), token: key(), secret: key() };
  const work = new Map<string, Promise<unknown>>();
  let defect: Defect | undefined;
  let deployments = 0;

  const maas = await startMaasFake({
    users: [{ username: account, isAdmin: false, apiKey }],
    machines: Array.from({ length: machines }, (_, index) => ({
      systemId: `kaaaa${"cdefghkm"[index] ?? index}`,
      hostname: `node-${index + 1}`,
      tags: ["standard"],
    })),
    images: Object.keys(images).map((name) => ({ name, type: "Uploaded" })),
    tags: ["standard", "gpu"],
    pools: ["default"],
    zones: ["default"],
    // Deploying ends only when the machine is up.
    deployMs: Number.POSITIVE_INFINITY,
    releaseMs: Number.POSITIVE_INFINITY,
    eraseMs: 0,
    addressPrefix,
    isManaged: false,
    ranges: [{ type: "reserved", first: 2, last: 201 }],
    onChange: (_, change, { systemId }) => follow(systemId, change),
  });
  const reports = await receiveReports(t, maas);
  t.teardown(() => maas.close());

  /** Runs the tasks of each machine one after the other. */
  function enqueue(systemId: string, task: () => Promise<unknown>): Promise<unknown> {
    const next = (work.get(systemId) ?? Promise.resolve()).then(task);
    work.set(
      systemId,
      next.catch((error: unknown) => t.comment(`${systemId}: ${error}`)),
    );
    return next;
  }

  function follow(systemId: string, { kind }: MachineChange): void {
    const lacking = defect;
    // On a failure there is a comment, and the gateway sees the machine in the state it is in.
    if (kind === "deploy") {
      enqueue(systemId, () => deploy(systemId, lacking)).catch(() => {});
    } else if (kind === "release" || kind === "markBroken" || kind === "abort") {
      enqueue(systemId, () => destroy(systemId)).catch(() => {});
    }
  }

  async function deploy(systemId: string, lacking: Defect | undefined): Promise<void> {
    const machine = maas.region.machine(systemId);
    if (machine?.status !== "deploying" || machine.address === undefined) {
      return;
    }
    const { hostname, series, address, userData = "" } = machine;
    deployments += 1;
    const seed = join(directory, "seeds", hostname);
    await mkdir(seed, { recursive: true });
    await writeFile(join(seed, "user-data"), Buffer.from(userData, "base64"), { mode: 0o600 });
    const metaData = `instance-id: ${systemId}-${deployments}\nlocal-hostname: ${hostname}\n`;
    await writeFile(join(seed, "meta-data"), metaData);
    await writeFile(
      join(seed, "reporting.cfg"),
      JSON.stringify({ reporting: reports.settingsFor(systemId) }),
    );
    await writeFile(join(seed, "lacking-file"), lacking?.file ?? "");
    await writeFile(join(seed, "lacking-image"), lacking?.containerImage ?? "");
    await script("down", hostname);
    await script("up", hostname, address.split(".")[3] ?? "", images[series] ?? "");
    maas.region.finish(systemId);
  }

  async function destroy(systemId: string): Promise<void> {
    const machine = maas.region.machine(systemId);
    await script("down", machine?.hostname ?? "");
    // MAAS may have allocated it again: a machine that was off is free at once.
    const status = maas.region.machine(systemId)?.status;
    if (status === "releasing" || status === "diskErasing") {
      maas.region.finish(systemId);
    }
  }

  const systemIdOf = (hostname: string) =>
    maas.region.machines().find((each) => each.hostname === hostname)?.systemId ?? "";
  return {
    maas,
    apiKey: `${apiKey.consumer}:${apiKey.token}:${apiKey.secret}`,
    endpointAddresses: `${addressPrefix}.202-${addressPrefix}.239`,
    owned: () => maas.region.machines().filter(({ owner }) => owner !== undefined),
    setDefect(next) {
      defect = next;
    },
    kill: async (hostname) => void (await enqueue(systemIdOf(hostname), () => script("off", hostname))),
    reboot: async (hostname) => void (await enqueue(systemIdOf(hostname), () => script("reboot", hostname))),
    run: (hostname, ...command) => script("run", hostname, ...command),
    async log(hostname) {
      const booting = readFile(join(directory, "machines", hostname, "console.log"), "utf8");
      const cloudInit = script("run", hostname, "cat", "/var/log/cloud-init-output.log");
      const texts = await Promise.all([booting, cloudInit].map((text) => text.catch(String)));
      return texts.map((text) => text.slice(-6000)).join("\n--\n");
    },
    idle: () => Promise.all(work.values()),
  };
}

/** Starts a replacement for MAAS's metadata server, to which cloud-init reports. */
async function receiveReports(t: Test, { region }: MaasFake) {
  const server = createServer(async (request, response) => {
    const systemId = request.url?.split("/").at(-1) ?? "";
    const { origin, description, result, event_type } = (await json(request)) as Record<string, string>;
    if (event_type === "finish" && result === "FAIL") {
      region.reportFailure(systemId, `'${origin}' ${description}`);
    }
    response.end();
  });
  // The lab's address in the machines' network.
  server.listen(0, `${addressPrefix}.1`);
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    settingsFor: (systemId: string) => ({
      maas: {
        type: "webhook",
        endpoint: `http://${addressPrefix}.1:${port}/MAAS/metadata/status/${systemId}`,
        ...{ consumer_key: "key", token_key: "token", token_secret: "secret" },
      },
    }),
  };
}
