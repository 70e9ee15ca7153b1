import { randomBytes } from "node:crypto";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import {
  createLibvirtSandbox,
  type LibvirtSandbox,
  type LibvirtSandboxOptions,
} from "../../../../adapters/libvirt/sandbox.ts";
import { OperationState, OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { domainReasons } from "../../../../server/domain/reasons.ts";
import {
  createHypervisorChanges,
  type HypervisorChanges,
} from "../../../../server/domains/hypervisors/changes/hypervisor-changes.ts";
import { observeHypervisorChanges } from "../../../../server/domains/hypervisors/events/hypervisor-observer.ts";
import { createOwnChanges } from "../../../../server/domains/hypervisors/events/own-changes.ts";
import type {
  HypervisorSettings,
  HypervisorTemplate,
} from "../../../../server/domains/hypervisors/hypervisor-settings.ts";
import { createHypervisors, type Hypervisors } from "../../../../server/domains/hypervisors/hypervisors.ts";
import { createInventory } from "../../../../server/domains/hypervisors/inventory.ts";
import {
  createPublishedPoolChanges,
  type PublishedPoolChanges,
} from "../../../../server/domains/hypervisors/pool/changes/published-pool-changes.ts";
import { createOperationsService } from "../../../../server/domains/hypervisors/service.ts";
import { createEvents, type Events } from "../../../../server/events/events.ts";
import { createOperations } from "../../../../server/operations/engine/create-operations.ts";
import type { Operation } from "../../../../server/operations/operation.ts";
import type { Operations } from "../../../../server/operations/operations.ts";
import type { OperationsOptions } from "../../../../server/operations/operations-options.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { testSeal } from "../../operations/engine-under-test.ts";

export const gib = 1n << 30n;

export const template: Omit<HypervisorTemplate, "id"> = {
  vcpuCount: 4,
  memoryMib: 2048,
  disk: { pool: "images", sizeGib: 10, backing: "base.qcow2" },
  network: "lan",
  gpus: [],
  seed: true,
  ready: { kind: "agent" },
  readyTimeoutSeconds: 5,
};

export const settings: HypervisorSettings = {
  templates: ["hv-1", "hv-2", "hv-3"].map((id) => ({ id, ...template })),
  match: ["old-*"],
  destroy: { graceSeconds: 0, deleteVolumes: false },
};

/** Creates an in-memory libvirt: pool `images`, `old-1` running, `old-2` and `other` off; closed when the test ends. */
export function createLibvirt(t: Test, options: LibvirtSandboxOptions = {}): LibvirtSandbox {
  const domain = (name: string, number: number) => ({
    name,
    uuid: `00000000-0000-4000-8000-00000000000${number}`,
    vcpuCount: 2,
    memoryBytes: gib,
  });
  const libvirt = createLibvirtSandbox({
    startMs: 0,
    bootMs: 0,
    shutDownMs: 0,
    pools: [
      {
        name: "images",
        capacityBytes: 100n * gib,
        volumes: [{ name: "base.qcow2", format: "qcow2", sizeBytes: gib }],
      },
    ],
    networks: ["lan"],
    domains: [{ ...domain("old-1", 1), state: "running" }, domain("old-2", 2), domain("other", 3)],
    ...options,
  });
  t.teardown(() => libvirt.close());
  return libvirt;
}

export interface HypervisorGatewayOptions {
  readonly libvirt: LibvirtAdapter;
  readonly store: OperationsOptions["store"];
  readonly settings?: HypervisorSettings;
  readonly boundary?: OperationsOptions["boundary"];
  readonly host?: string;
  /** Whether the gateway only makes requests and runs no operations. */
  readonly isIdle?: boolean;
  /** Whether the gateway publishes changes as events. */
  readonly isObserver?: boolean;
  readonly patienceMs?: number;
}

/** The parts of a gateway that handle hypervisors; closed when the test ends. */
export interface HypervisorGateway {
  readonly hypervisors: Hypervisors;
  /** Changes of the storage pool are refused, since there is none. */
  readonly changes: HypervisorChanges & PublishedPoolChanges;
  readonly operations: Operations;
  readonly events: Events;
  /** Returns a gRPC client that connects over a socket. */
  client(): Promise<Client<typeof OperationsService>>;
  /** Returns the URL that the gateway listens on. */
  url(): Promise<string>;
  /** Resolves to the operation once it has ended. */
  end(id: string): Promise<Operation>;
  close(): Promise<void>;
}

/** @throws InfraError DOMAIN_OFF */
function refuse(): never {
  throw new InfraError(domainReasons.DOMAIN_OFF, "there is no storage pool");
}

export async function createHypervisorGateway(
  t: Test,
  options: HypervisorGatewayOptions,
): Promise<HypervisorGateway> {
  const { libvirt, store, host = "alpha" } = options;
  const onFailed = (error: unknown) => t.comment(String(error));
  const events = await createEvents({ store, keepMs: 86_400_000, onFailed });
  const operations = createOperations({
    store,
    instance: { instanceId: randomBytes(4).toString("hex"), host },
    seal: testSeal,
    limits: { perSystem: 4, maxOpen: 1000, leaseMs: 20_000, keepMs: 86_400_000 },
    log: { info: () => {}, warn: (message, cause) => t.comment(`${message} ${cause ?? ""}`) },
    firstPauseMs: 5,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
  });
  const ownSettings = options.settings ?? settings;
  const inventory = createInventory(ownSettings);
  const own = createOwnChanges(libvirt);
  const parts = { libvirt, inventory, own, host, store };
  const patience = { pollMs: 10, patienceMs: options.patienceMs ?? 5_000 };
  const hypervisors = createHypervisors({ ...parts, operations, events });
  const changesOptions = { ...parts, ...patience, hypervisors, settings: ownSettings, operations, events };
  const changes = {
    ...createHypervisorChanges(changesOptions),
    ...createPublishedPoolChanges(refuse, { operations, events }),
  };
  const observer =
    options.isObserver === true ? observeHypervisorChanges({ ...parts, onFailed, retryMs: 50 }) : undefined;
  if (options.isIdle !== true) {
    operations.begin();
  }
  let isClosed = false;
  async function close(): Promise<void> {
    const isDead = "isDead" in store && store.isDead === true;
    if (!isClosed && !isDead) {
      isClosed = true;
      await operations.close();
      await observer?.close();
      await events.close();
    }
  }
  t.teardown(close);
  let started: Promise<{ readonly url: string }> | undefined;
  const url = async () => {
    started ??= startAppUnderTest(t, [createOperationsService(hypervisors, changes)]);
    return (await started).url;
  };
  return {
    hypervisors,
    changes,
    operations,
    events,
    url,
    client: async () => createClient(OperationsService, createGrpcTransport({ baseUrl: await url() })),
    end: (id) => operations.ended(id, AbortSignal.timeout(60_000)),
    close,
  };
}

/** The messages of a stream, and the ids of its operations. */
export interface Followed {
  readonly reported: readonly string[];
  readonly last: string;
  readonly operationIds: readonly string[];
}

type Stream = AsyncIterable<{ readonly state: OperationState; readonly msg: string }>;

/** Reads a stream to its end; formats each message like `ACTIVE creating the disk`. */
export async function follow(
  call: (options: { readonly onHeader: (headers: Headers) => void; readonly signal?: AbortSignal }) => Stream,
  onMessage: (text: string) => unknown = () => {},
  signal?: AbortSignal,
): Promise<Followed> {
  let operationIds: string[] = [];
  const reported: string[] = [];
  const onHeader = (headers: Headers) => {
    operationIds = (headers.get("hostplane-operation") ?? "").split(",");
  };
  for await (const { state, msg } of call({ onHeader, ...(signal === undefined ? {} : { signal }) })) {
    const [name] = Object.entries(OperationState).find(([, number]) => number === state) ?? [];
    const text = `${name} ${msg}`;
    reported.push(text);
    await onMessage(text);
  }
  return { reported, last: reported.at(-1) ?? "", operationIds };
}

/** Returns the names of running VMs, of VMs that are off, and of volumes. */
export async function leftOf(libvirt: LibvirtAdapter) {
  const { domains } = (await libvirt.read()).value;
  const named = (isOn: boolean) =>
    domains.filter(({ state }) => (state === "running") === isOn).map(({ name }) => name);
  const volumes = await libvirt.volumesOf("images");
  return { running: named(true), off: named(false), volumes: volumes.map(({ name }) => name) };
}

/** Result of `leftOf` before anything is created. */
export const untouched = { running: ["old-1"], off: ["old-2", "other"], volumes: ["base.qcow2"] };

/** Result of `leftOf` after `hv-1` was created. */
export const leftAfterCreation = {
  running: ["hv-1", "old-1"],
  off: ["old-2", "other"],
  volumes: ["base.qcow2", "hypervisor-hv-1-seed.iso", "hypervisor-hv-1.qcow2"],
};
