import { InfraError, invalidField } from "../host/infra-error.ts";
import type {
  DomainDefinition,
  DomainGpu,
  LibvirtDomain,
  LibvirtPool,
  LibvirtState,
  StorageSource,
} from "./adapter.ts";
import { assertLibvirtName } from "./names.ts";

export interface SandboxStorageVolume {
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly format?: "qcow2" | "raw";
}

export interface SandboxPool {
  readonly name: string;
  readonly type?: string;
  readonly targetPath?: string;
  readonly capacityBytes: bigint;
  readonly volumes?: readonly SandboxStorageVolume[];
}

/** A domain that is there from the beginning. */
export interface SandboxDomain extends Pick<LibvirtDomain, "name" | "uuid" | "vcpuCount" | "memoryBytes"> {
  readonly state?: LibvirtDomain["state"];
  readonly mark?: LibvirtDomain["mark"];
  readonly gpus?: readonly string[];
  readonly disks?: readonly StorageSource[];
}

export interface SandboxHostOptions {
  readonly pools: readonly SandboxPool[];
  readonly networks: readonly string[];
  readonly gpus: readonly DomainGpu[];
  readonly domains: readonly SandboxDomain[];
}

interface HostVolume {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: bigint;
  readonly format: "qcow2" | "raw";
}

interface HostDomain {
  readonly domain: LibvirtDomain;
  readonly hostDevices: readonly string[];
}

/** Domains and storage in memory. Each function refuses what libvirt would refuse; nothing has changed then. */
export interface SandboxHost {
  state(): LibvirtState;
  /** @throws InfraError STORAGE_POOL_NOT_FOUND */
  volumesOf(pool: string): readonly HostVolume[];
  /** @throws InfraError INVALID_FIELD, STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_EXISTS, STORAGE_VOLUME_NOT_FOUND, NO_SPACE */
  addVolume(pool: string, volume: SandboxStorageVolume, backing?: string): void;
  /** Makes it, or makes it anew. @throws InfraError INVALID_FIELD, STORAGE_POOL_NOT_FOUND */
  putVolume(pool: string, volume: SandboxStorageVolume): void;
  /** @throws InfraError STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND */
  removeVolume(pool: string, name: string): void;
  /** @throws InfraError what `addVolume` throws of what it names, NETWORK_NOT_FOUND, NODE_DEVICE_NOT_FOUND, DOMAIN_EXISTS */
  define(definition: DomainDefinition): void;
  /** @throws InfraError DOMAIN_NOT_FOUND */
  domainOf(name: string, uuid?: string): LibvirtDomain;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE */
  start(name: string, uuid: string): void;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it does not run */
  stop(name: string, uuid: string): void;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it runs */
  undefine(name: string, uuid: string): void;
}

/** What a sparse file takes of its pool. */
const emptyFileBytes = 200n * 1024n;

export function createSandboxHost(options: SandboxHostOptions): SandboxHost {
  const { networks, gpus } = options;
  const pools = new Map(options.pools.map((pool) => [pool.name, pool]));
  const volumes = new Map(options.pools.map(({ name }) => [name, new Map<string, HostVolume>()]));
  const domains = new Map<string, HostDomain>();

  function volumesIn(pool: string): Map<string, HostVolume> {
    const found = volumes.get(pool);
    if (found === undefined) {
      throw new InfraError("STORAGE_POOL_NOT_FOUND", `there is no storage pool ${pool}`);
    }
    return found;
  }

  function volumeIn(pool: string, name: string): HostVolume {
    const found = volumesIn(pool).get(name);
    if (found === undefined) {
      throw new InfraError("STORAGE_VOLUME_NOT_FOUND", `storage pool ${pool} has no volume ${name}`);
    }
    return found;
  }

  function freeBytes({ name, capacityBytes }: SandboxPool): bigint {
    const taken = [...volumesIn(name).values()].map(takenBytes);
    return taken.reduce((free, each) => free - each, capacityBytes);
  }

  function putVolume(pool: string, volume: SandboxStorageVolume): void {
    assertLibvirtName(volume.name, "name");
    const { targetPath = `/sandbox/${pool}` } = pools.get(pool) ?? {};
    const path = `${targetPath}/${volume.name}`;
    volumesIn(pool).set(volume.name, { format: "raw", ...volume, path });
  }

  function domainOf(name: string, uuid?: string): HostDomain {
    const found = domains.get(name);
    if (found === undefined || (uuid !== undefined && found.domain.uuid !== uuid)) {
      throw new InfraError("DOMAIN_NOT_FOUND", `there is no domain ${name}`);
    }
    return found;
  }

  function alter(name: string, change: Partial<LibvirtDomain>): void {
    const found = domainOf(name);
    domains.set(name, { ...found, domain: { ...found.domain, ...change } });
  }

  function assertThere({ disks, network, hostDevices }: DomainDefinition): void {
    for (const { pool, volume } of disks) {
      volumeIn(pool, volume);
    }
    if (network !== undefined && !networks.includes(network)) {
      throw new InfraError("NETWORK_NOT_FOUND", `there is no network ${network}`);
    }
    for (const address of hostDevices) {
      if (!gpus.some(({ pciAddress }) => pciAddress === address)) {
        throw new InfraError("NODE_DEVICE_NOT_FOUND", `this host has no PCI device ${address}`);
      }
    }
  }

  const gpusOf = (addresses: readonly string[]) =>
    gpus.filter(({ pciAddress }) => addresses.includes(pciAddress));

  for (const { name, volumes: there = [] } of options.pools) {
    for (const volume of there) {
      putVolume(name, volume);
    }
  }
  for (const one of options.domains) {
    const { name, state = "shutOff", mark, gpus: hostDevices = [], disks = [], ...figures } = one;
    const domain: LibvirtDomain = {
      name,
      ...figures,
      state,
      isPersistent: true,
      mark,
      gpus: gpusOf(hostDevices),
      disks: disks.map((source, index) => ({ target: diskTarget("disk", index), source })),
      filesystems: [],
    };
    domains.set(name, { domain, hostDevices });
  }

  return {
    state: () => ({
      domains: [...domains.values()].map(({ domain }) => domain).toSorted(byName),
      pools: [...pools.values()].map((pool) => poolFacts(pool, freeBytes(pool))).toSorted(byName),
      gpus,
    }),
    volumesOf: (pool) => [...volumesIn(pool).values()].toSorted(byName),
    addVolume(pool, volume, backing) {
      assertLibvirtName(volume.name, "name");
      if (volumesIn(pool).has(volume.name)) {
        throw new InfraError("STORAGE_VOLUME_EXISTS", `storage pool ${pool} has a volume ${volume.name}`);
      }
      const backingBytes = backing === undefined ? 0n : volumeIn(pool, backing).sizeBytes;
      if (backingBytes > volume.sizeBytes) {
        throw invalidField("sizeBytes", `must be at least the ${backingBytes} bytes of ${backing}`);
      }
      const wanted = { format: "raw", ...volume, path: "" } as const;
      const own = pools.get(pool);
      if (own !== undefined && takenBytes(wanted) > freeBytes(own)) {
        throw new InfraError("NO_SPACE", `storage pool ${pool} has ${freeBytes(own)} bytes free`);
      }
      putVolume(pool, volume);
    },
    putVolume,
    removeVolume(pool, name) {
      volumeIn(pool, name);
      volumesIn(pool).delete(name);
    },
    define(definition) {
      assertThere(definition);
      const { name, uuid, vcpuCount, memoryBytes, mark, disks, hostDevices } = definition;
      const others = [...domains.values()].filter(
        ({ domain }) => domain.name !== name || domain.uuid !== uuid,
      );
      if (others.some(({ domain }) => domain.name === name || domain.uuid === uuid)) {
        throw new InfraError("DOMAIN_EXISTS", `a domain has the name ${name} or the UUID ${uuid}`);
      }
      const counts = { disk: 0, cdrom: 0 };
      const { state = "shutOff" } = domains.get(name)?.domain ?? {};
      const domain: LibvirtDomain = {
        name,
        uuid,
        state,
        isPersistent: true,
        vcpuCount,
        memoryBytes,
        mark,
        gpus: gpusOf(hostDevices),
        disks: disks.map(({ pool, volume, device }) => {
          const target = diskTarget(device, counts[device]);
          counts[device] += 1;
          return { target, source: { kind: "volume", pool, volume } };
        }),
        filesystems: [],
      };
      domains.set(name, { domain, hostDevices });
    },
    domainOf: (name, uuid) => domainOf(name, uuid).domain,
    start(name, uuid) {
      const { domain, hostDevices } = domainOf(name, uuid);
      if (isOn(domain)) {
        throw new InfraError("DOMAIN_STATE", `domain ${name} is already running`);
      }
      for (const other of domains.values()) {
        const shared = other.hostDevices.find((address) => hostDevices.includes(address));
        if (isOn(other.domain) && shared !== undefined) {
          throw new InfraError(
            "DOMAIN_STATE",
            `PCI device ${shared} is in use by domain ${other.domain.name}`,
          );
        }
      }
      alter(name, { state: "running" });
    },
    stop(name, uuid) {
      if (!isOn(domainOf(name, uuid).domain)) {
        throw new InfraError("DOMAIN_STATE", `domain ${name} is not running`);
      }
      alter(name, { state: "shutOff" });
    },
    undefine(name, uuid) {
      if (isOn(domainOf(name, uuid).domain)) {
        throw new InfraError("DOMAIN_STATE", `domain ${name} is running`);
      }
      domains.delete(name);
    },
  };
}

function isOn({ state }: LibvirtDomain): boolean {
  return state !== "shutOff" && state !== "crashed";
}

function takenBytes({ format, sizeBytes }: HostVolume): bigint {
  return format === "raw" ? sizeBytes : emptyFileBytes;
}

function poolFacts(pool: SandboxPool, freeBytes: bigint): LibvirtPool {
  const { name, type = "dir", targetPath = `/sandbox/${name}`, capacityBytes } = pool;
  const uuid = `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").padEnd(12, "0").slice(0, 12)}`;
  return { name, uuid, isActive: true, type, targetPath, capacityBytes, freeBytes };
}

function diskTarget(device: "disk" | "cdrom", index: number): string {
  return `${device === "disk" ? "vd" : "sd"}${String.fromCharCode(97 + index)}`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
