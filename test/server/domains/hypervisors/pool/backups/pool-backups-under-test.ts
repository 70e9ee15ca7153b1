import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import type { DomainDefinition } from "../../../../../../adapters/libvirt/adapter.ts";
import { createLibvirtSandbox, type LibvirtSandbox } from "../../../../../../adapters/libvirt/sandbox.ts";
import type { LvmAdapter } from "../../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../../adapters/lvm/sandbox.ts";
import type { Repository, ResticAdapter, ResticSnapshot } from "../../../../../../adapters/restic/adapter.ts";
import { createResticSandbox } from "../../../../../../adapters/restic/sandbox.ts";
import type { BackupRow } from "../../../../../../server/backups/store/backups.ts";
import { masterKeysFromText } from "../../../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../../../server/crypto/seal.ts";
import type { PoolVolumesSystem } from "../../../../../../server/domains/hypervisors/pool/backups/pool-backups.ts";
import { createDirectoryPool } from "../../../../../../server/domains/hypervisors/pool/directory-pool.ts";
import type { StoragePool } from "../../../../../../server/domains/hypervisors/pool/storage-pool.ts";
import { createVolumeGroupPool } from "../../../../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { createInlineRunner } from "../../../../../../server/operations/engine/run-inline.ts";
import type { OperationsOptions } from "../../../../../../server/operations/operations-options.ts";
import { openOwnStore } from "../../../../store/own-store.ts";
import { createPoolGateway, createPoolLvm, type PoolGateway } from "../pool-under-test.ts";

const mib = 1n << 20n;
const keySeal = createSeal(masterKeysFromText(randomBytes(32).toString("base64"), "test"), "repository-key");

/** What the gateways of one host share. */
export interface PoolHost {
  readonly pool: StoragePool;
  readonly system: PoolVolumesSystem;
  readonly restic: ResticAdapter;
  /** Lists the snapshots in the repository. */
  stored(): Promise<readonly ResticSnapshot[]>;
  /** Lists what operations hold or have created, and have not released. */
  leftovers(): Promise<readonly string[]>;
  volumeNames(): Promise<readonly string[]>;
}

export interface DirectoryHost extends PoolHost {
  readonly libvirt: LibvirtSandbox;
}

export interface VolumeGroupHost extends PoolHost {
  readonly lvm: LvmAdapter;
}

export const running = { name: "bm-1", uuid: "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d01" };
export const stopped = { name: "bm-2", uuid: "6f0c2ad8-17c0-4a5b-9d3a-52b8a40f1d02" };

/** Creates the group `vgpool` with two thick volumes of 64 MiB, and a thin volume of 32 MiB in a thin pool. */
export async function createVolumeGroupHost(restic = countedRestic()): Promise<VolumeGroupHost> {
  const volumeGroup = "vgpool";
  const at = { volumeGroupName: volumeGroup };
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: volumeGroup,
        sizeBytes: 1024n * mib,
        volumes: [
          { name: "one", sizeBytes: 64n * mib, open: true },
          { name: "two", sizeBytes: 64n * mib },
          { name: "thins", sizeBytes: 256n * mib, thinPool: true },
        ],
      },
    ],
  });
  await lvm.run({
    kind: "create",
    ...at,
    name: "thin",
    sizeBytes: 32n * mib,
    tags: [],
    thinPoolName: "thins",
  });
  const volumes = async () => (await lvm.refresh()).value.volumes;
  return {
    lvm,
    pool: createVolumeGroupPool({ lvm, volumeGroup, devices: [], canMove: true }),
    system: { kind: "volumeGroup", lvm, volumeGroup },
    restic: restic.adapter,
    stored: restic.stored,
    async leftovers() {
      const isMark = (text: string) => text.startsWith("hostplane-");
      const created = (await volumes()).filter(({ name, tags }) => [name, ...tags].some(isMark));
      return created.map(({ name }) => name);
    },
    volumeNames: async () => (await volumes()).map(({ name }) => name).toSorted(),
  };
}

/**
 * Creates libvirt's pool `images` in a directory: `bm-1` runs with `a.qcow2` and `b.qcow2` of 3 MiB, `bm-2` is off and has
 * `c.raw` of 2 MiB, and `seed.iso` of 1 MiB is unused.
 */
export async function createDirectoryHost(t: Test, restic = countedRestic()): Promise<DirectoryHost> {
  const directory = t.testdir({});
  const libvirtPool = "images";
  const disk = (volume: string) => ({ kind: "volume", pool: libvirtPool, volume }) as const;
  const facts = { vcpuCount: 1, memoryBytes: mib };
  const libvirt = createLibvirtSandbox({
    startMs: 0,
    pools: [
      {
        name: libvirtPool,
        targetPath: directory,
        capacityBytes: 64n * mib,
        volumes: [
          { name: "a.qcow2", format: "qcow2", sizeBytes: 3n * mib },
          { name: "b.qcow2", format: "qcow2", sizeBytes: 3n * mib },
          { name: "c.raw", format: "raw", sizeBytes: 2n * mib },
          { name: "seed.iso", format: "raw", sizeBytes: mib },
        ],
      },
    ],
    networks: [],
    gpus: [],
    domains: [
      { ...running, ...facts, state: "running", disks: [disk("a.qcow2"), disk("b.qcow2")] },
      { ...stopped, ...facts, disks: [disk("c.raw")] },
    ],
  });
  return {
    libvirt,
    pool: createDirectoryPool({ directory }),
    system: { kind: "directory", libvirt, libvirtPool, directory },
    restic: restic.adapter,
    stored: restic.stored,
    async leftovers() {
      const { signal } = new AbortController();
      const { domains } = (await libvirt.read()).value;
      const held: string[] = [];
      for (const { name, uuid } of domains.filter(({ state }) => state === "running")) {
        const request = { name, uuid, targets: ["vda"], token: "another" };
        const backup = await libvirt.beginBackup(request, signal).catch(() => undefined);
        await backup?.end();
        held.push(...(backup === undefined ? [name] : []));
      }
      return held;
    },
    volumeNames: async () => (await libvirt.volumesOf(libvirtPool)).map(({ name }) => name),
  };
}

/** Creates a restic with a function that lists the snapshots of its only repository. */
export function countedRestic(adapter: ResticAdapter = createResticSandbox({ transferMs: 1 })) {
  const { signal } = new AbortController();
  let repository: Repository | undefined;
  return {
    adapter: {
      ...adapter,
      ensureRepository(expected: Repository, ...rest: [AbortSignal]) {
        repository = expected;
        return adapter.ensureRepository(expected, ...rest);
      },
    } satisfies ResticAdapter,
    stored: async () => (repository === undefined ? [] : adapter.list(repository, [], signal)),
  };
}

/** Like `countedRestic`, but stores nothing until `open` is called. */
export function gatedRestic() {
  const counted = countedRestic();
  const { adapter } = counted;
  const gate = Promise.withResolvers<void>();
  return {
    ...counted,
    open: gate.resolve,
    adapter: {
      ...adapter,
      async backup(...args: Parameters<typeof adapter.backup>) {
        await gate.promise;
        return adapter.backup(...args);
      },
    } satisfies ResticAdapter,
  };
}

export interface PoolBackupsGateway extends PoolGateway {
  readonly host: string;
  end(id: string): ReturnType<PoolGateway["operations"]["ended"]>;
  /** Backs up the pool and waits until the operation has ended. */
  backUp(): ReturnType<PoolGateway["operations"]["ended"]>;
  /** Lists the backups of the host, newest first. */
  rows(): Promise<readonly BackupRow[]>;
}

export interface PoolBackupsGatewayOptions {
  readonly store?: OperationsOptions["store"];
  readonly boundary?: OperationsOptions["boundary"];
  readonly host?: string;
  readonly isIdle?: boolean;
  /** Replaces the host's own. */
  readonly restic?: ResticAdapter;
  readonly system?: PoolVolumesSystem;
}

export async function createPoolBackupsGateway(
  t: Test,
  { pool, ...shared }: PoolHost,
  options: PoolBackupsGatewayOptions = {},
): Promise<PoolBackupsGateway> {
  const { restic = shared.restic, system = shared.system, host = "alpha", ...rest } = options;
  const store = options.store ?? (await openOwnStore(t));
  const runner = createInlineRunner((_mutation, step, error) => t.fail(`undo of ${step.name}: ${error}`));
  const settings = { repository: "/srv/pool-backups", snapshotPercent: 10, minimumAgeHours: 0 };
  const backup = { system, restic, settings, runner, store, keySeal };
  const gateway = await createPoolGateway(t, { ...rest, lvm: createPoolLvm(), store, pool, backup, host });
  const end = (id: string) => gateway.operations.ended(id, AbortSignal.timeout(60_000));
  return {
    ...gateway,
    host,
    end,
    backUp: async () => end((await gateway.beginBackup()).id),
    async rows() {
      const page = { filters: { host }, belowSeq: undefined, limit: 100 };
      return (await store.run("backups.list", page)).rows;
    },
  };
}

/** Returns the definition of a VM that has the volume as its disk. */
export function domainWith(name: string, uuid: string, volume: string): DomainDefinition {
  return {
    name,
    uuid,
    vcpuCount: 1,
    memoryBytes: mib,
    mark: { hypervisorId: name, operationId: "test", createdVolumes: [] },
    serial: name,
    disks: [{ pool: "images", volume, format: "raw", device: "disk" }],
    network: undefined,
    hostDevices: [],
  };
}

/** Polls until the condition holds, for at most 30 s. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > endsAtMs) {
      throw new Error("the condition did not become true");
    }
    await sleep(2);
  }
}
