import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import tap, { type Test } from "tap";
import { type Operation, OperationService } from "../../../gen/hostplane/v1/operation_pb.ts";
import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { type Failpoint, type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { labImage, type PodmanService, startPodmanService } from "./podman.ts";

/** The image in the registry. */
export const remoteImage = "127.0.0.1:5000/lab/remote:1";
/** A program that ignores SIGTERM, and one that does not. */
export const deaf = ["sh", "-c", "trap '' TERM; while :; do sleep 0.2; done"];
export const polite = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"];

export interface Lab extends PodmanService {
  /** Directory of the registry's files, through which it is controlled. */
  readonly registry: string;
}

let shared: Promise<Lab> | undefined;

/** A lab for all tests, without pods. */
export async function emptyLab(): Promise<Lab> {
  shared ??= startLab();
  const lab = await shared;
  await lab.podman("pod", "rm", "-f", "-t", "0", "-a");
  await lab.podman("rm", "-f", "-t", "0", "-a");
  await lab.podman("rmi", "-f", remoteImage).catch(() => {});
  return lab;
}

/** Starts Podman and a registry, whose image has a layer that Podman does not have. */
async function startLab(): Promise<Lab> {
  const service = await startPodmanService();
  tap.teardown(service.destroy);
  const { podman } = service;
  const directory = dirname(service.socketPath);
  const registry = join(directory, "registry");
  await mkdir(registry);
  const fill = ["sh", "-c", "head -c 1000000 /dev/urandom >/blob"];
  await podman("run", "--name", "filled", "--network", "none", labImage, ...fill);
  await podman("commit", "-q", "filled", "localhost/lab/filled:1");
  await podman("push", "-q", "localhost/lab/filled:1", `dir:${registry}`);
  await podman("rm", "filled");
  await podman("rmi", "localhost/lab/filled:1");
  const insecure = '\n[[registry]]\nlocation = "127.0.0.1:5000"\ninsecure = true\n';
  await appendFile(join(directory, "conf/registries.conf"), insecure);
  await service.stop();
  await service.start();
  const [script, program] = ["podman.sh", "directory-registry.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const argv = ["inside", process.execPath, program ?? "", registry];
  const env = { ...process.env, PODMAN_DIR: directory, NODE_OPTIONS: "" };
  // It ends with Podman's namespaces.
  const child = spawn(script ?? "", argv, { env, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.stdout.destroy();
  child.unref();
  return { ...service, registry };
}

/** Creates a pod with one container per program; returns its id. */
export async function makePod({ podman }: PodmanService, name: string, ...programs: (readonly string[])[]) {
  const id = (await podman("pod", "create", "--name", name, "--network", "none")).trim();
  for (const [index, program] of programs.entries()) {
    const options = ["--pod", name, "--name", `${name}-${index}`, "--stop-timeout", "3"];
    await podman("create", ...options, labImage, ...program);
  }
  return id;
}

/** Returns e.g. `exited 137`, or `gone`. */
export async function stateOf({ podman }: PodmanService, container: string): Promise<string> {
  const format = "{{.State.Status}} {{.State.ExitCode}}";
  const reported = await podman("container", "inspect", "--format", format, container).catch(() => "gone");
  return reported.trim();
}

export async function until(what: () => Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + 60_000;
  while (!(await what())) {
    if (performance.now() > endsAtMs) {
      throw new Error("timed out after a minute");
    }
    await sleep(50);
  }
}

export interface Gateway extends GatewayProcess {
  readonly pods: Client<typeof PodService>;
  readonly plans: Client<typeof PlanService>;
  readonly operations: Client<typeof OperationService>;
  /** Waits for the end of the operation, and returns it. */
  end(started: { readonly operation?: Operation | undefined }): Promise<Operation>;
}

/** Starts gateways on the lab, one after the other, with the same data. */
export async function createGateways(t: Test, { socketPath }: PodmanService) {
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "hostplane.yaml");
  return async (failpoint?: Failpoint): Promise<Gateway> => {
    const more = { pods: { podman: { socket: socketPath } } };
    const gateway = await startGatewayProcess(config, undefined, more, failpoint);
    t.teardown(() => gateway.kill("SIGKILL"));
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    const operations = createClient(OperationService, transport);
    return {
      ...gateway,
      pods: createClient(PodService, transport),
      plans: createClient(PlanService, transport),
      operations,
      async end({ operation }) {
        const id = operation?.id ?? "";
        for await (const message of operations.watchOperation({ id })) {
          operation = message.operation ?? operation;
        }
        if (operation === undefined) {
          throw new Error("the pod has no operation");
        }
        return operation;
      },
    };
  };
}

/** Waits until Podman has requested the last layer of the registry's image. */
export async function untilLayerRequested({ registry }: Lab): Promise<void> {
  const { layers } = JSON.parse(await readFile(join(registry, "manifest.json"), "utf8")) as {
    layers: readonly { digest: string }[];
  };
  const last = layers.at(-1)?.digest ?? "";
  await until(async () => (await readFile(join(registry, "requests"), "utf8")).includes(`/blobs/${last}`));
}
