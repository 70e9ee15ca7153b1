import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import type { Test } from "tap";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Operation, OperationService } from "../../../gen/hostplane/v1/operation_pb.ts";
import {
  HypervisorState,
  OperationState,
  OperationsService,
} from "../../../gen/operations/v1/operations_pb.ts";
import { type Failpoint, type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { type LibvirtDaemon, startLibvirt } from "./libvirt.ts";
import { type LibvirtGate, startLibvirtGate } from "./libvirt-gate.ts";

/** A libvirtd with a pool and a base volume in it, and gateways that use it. */
export interface HypervisorsLab {
  readonly daemon: LibvirtDaemon;
  readonly gate: LibvirtGate;
  readonly poolDirectory: string;
  /** Starts a gateway on the lab's only store. It is stopped with the test. */
  start(failpoint?: Failpoint): Promise<GatewayProcess>;
  /** Returns the names of the files in the pool without the base volume, sorted. */
  files(): Promise<readonly string[]>;
  /** Refreshes the pool, and returns the names of libvirt's volumes without the base volume, sorted. */
  volumes(): Promise<readonly string[]>;
  /** Returns the names of VMs, sorted. */
  domains(which: "all" | "running"): Promise<readonly string[]>;
  /** Returns the names of VMs for which a QEMU process runs, whatever libvirt knows about it, sorted. */
  machines(): Promise<readonly string[]>;
}

export interface LabSettings {
  readonly templates: readonly Readonly<Record<string, unknown>>[];
  readonly match?: readonly string[];
  readonly destroy?: { readonly graceSeconds?: number; readonly deleteVolumes?: boolean };
}

/** A template of the lab with the pool `default`. Its VMs run no operating system, so they cannot get further than `started`. */
export function labTemplate(
  ids: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const disk = { pool: "default", sizeGib: 1, backing: "base.qcow2" };
  return { ids, vcpus: 1, memoryMib: 64, disk, ...more };
}

const baseVolume = "base.qcow2";
const baseXml = `<volume><name>${baseVolume}</name><capacity unit='MiB'>100</capacity><allocation>0</allocation>
  <target><format type='qcow2'/></target></volume>`;

export async function makeHypervisorsLab(t: Test, settings: LabSettings): Promise<HypervisorsLab> {
  const daemon = await startLibvirt(t);
  const folder = await mkdtemp(join(tmpdir(), "hostplane-hv-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const poolDirectory = join(daemon.poolsDirectory, "default");
  await daemon.virsh("pool-define-as", "default", "dir", "--target", poolDirectory);
  await daemon.virsh("pool-build", "default");
  await daemon.virsh("pool-start", "default");
  await daemon.virsh("pool-autostart", "default");
  const { virsh } = daemon;
  const files = t.testdir({ "base.xml": baseXml });
  await virsh("vol-create", "default", join(files, "base.xml"));
  const gate = await startLibvirtGate(t, join(folder, "gate"), daemon.socketPath);
  const configured = {
    hypervisors: { libvirt: { uri: gate.uri, seedTool: ["xorrisofs"] }, ...settings },
    operations: { perSystem: 8 },
  };
  const names = (text: string) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((name) => name !== "")
      .toSorted();
  return {
    daemon,
    gate,
    poolDirectory,
    async start(failpoint) {
      const file = join(folder, "hostplane.yaml");
      const gateway = await startGatewayProcess(file, undefined, configured, failpoint);
      t.teardown(() => gateway.kill("SIGKILL"));
      return gateway;
    },
    async files() {
      const found = await readdir(poolDirectory);
      return found.filter((name) => name !== baseVolume).toSorted();
    },
    async volumes() {
      await virsh("pool-refresh", "default");
      const [, , ...lines] = (await virsh("vol-list", "default")).split("\n");
      const found = lines.map((line) => line.trim().split(/\s+/)[0] ?? "");
      return found.filter((name) => name !== "" && name !== baseVolume).toSorted();
    },
    domains: async (which) =>
      names(await virsh("list", which === "all" ? "--all" : "--state-running", "--name")),
    async machines() {
      const { stdout } = await promisify(execFile)("ps", ["-eo", "args="], { maxBuffer: 1 << 24 });
      const home = join(daemon.poolsDirectory, "..");
      return stdout
        .split("\n")
        .filter((line) => line.includes("qemu-system") && line.includes(`${home}/`))
        .flatMap((line) => /-name guest=([^,]+)/.exec(line)?.[1] ?? [])
        .toSorted();
    },
  };
}

/** The protocols of the contract. */
export const wires: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "Connect over HTTP/1.1": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect over HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
};

/** Returns clients of a gateway. */
export function clientsOf({ url }: Pick<GatewayProcess, "url">, wire = "gRPC") {
  const makeTransport = wires[wire];
  if (makeTransport === undefined) {
    throw new Error(`unknown wire ${wire}`);
  }
  const transport = makeTransport(url);
  return {
    events: createClient(EventService, transport),
    hypervisors: createClient(OperationsService, transport),
    operations: createClient(OperationService, transport),
  };
}

export type LabClients = ReturnType<typeof clientsOf>;

/** Returns the messages of a stream, e.g. `COMPLETED bm-1 was created`, and the operation that it named. */
export async function followStream(
  clients: LabClients,
  verb: "create" | "destroy",
  id: string,
): Promise<{
  readonly states: readonly string[];
  readonly messages: readonly string[];
  readonly operationId: string;
}> {
  const { hypervisors } = clients;
  let operationId = "";
  const onHeader = (headers: Headers) => {
    operationId = headers.get("hostplane-operation") ?? "";
  };
  const stream =
    verb === "create"
      ? hypervisors.createHypervisor({ id }, { onHeader })
      : hypervisors.destroyHypervisor({ id }, { onHeader });
  const states: string[] = [];
  const messages: string[] = [];
  for await (const { state, msg } of stream) {
    states.push(nameOf(OperationState, state));
    messages.push(msg);
  }
  return { states, messages, operationId };
}

/** Returns the states from ListHypervisors: `{ "bm-1": "AVAILABLE_TO_CREATE" }`. */
export async function listedStates({ hypervisors }: LabClients): Promise<Readonly<Record<string, string>>> {
  const { hypervisors: all } = await hypervisors.listHypervisors({});
  return Object.fromEntries(all.map(({ id, state }) => [id, nameOf(HypervisorState, state)]));
}

function nameOf(numbers: Readonly<Record<string, number>>, expected: number): string {
  return Object.entries(numbers).find(([, number]) => number === expected)?.[0] ?? String(expected);
}

/** Waits for the end of an operation. */
export async function endOf({ operations }: LabClients, id: string): Promise<Operation> {
  let last: Operation | undefined;
  for await (const { operation } of operations.watchOperation({ id })) {
    last = operation ?? last;
  }
  if (last === undefined) {
    throw new Error(`the stream of the operation ${id} had no message`);
  }
  return last;
}

/** Reads the two files of a seed from its ISO image. */
export async function readSeed(
  image: string,
): Promise<{ readonly metaData: string; readonly userData: string }> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-seed-"));
  try {
    const into = join(folder, "seed");
    await promisify(execFile)("xorriso", ["-osirrox", "on", "-indev", image, "-extract", "/", into]);
    const [metaData, userData] = await Promise.all(
      ["meta-data", "user-data"].map((name) => readFile(join(into, name), "utf8")),
    );
    return { metaData: metaData ?? "", userData: userData ?? "" };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
