import { InfraError } from "../../host/infra-error.ts";
import type { DomainDefinition, DomainGpu, LibvirtDomain, LibvirtState, StorageSource } from "../adapter.ts";
import { libvirtReasons } from "../reasons.ts";
import { createSandboxStorage, type SandboxPool, type SandboxStorage } from "./sandbox-storage.ts";

/** A VM that exists from the beginning. */
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

interface HostDomain {
  readonly domain: LibvirtDomain;
  readonly hostDevices: readonly string[];
}

/** VMs and storage in memory. Each function refuses what libvirt would refuse; nothing has changed then. */
export interface SandboxHost {
  readonly storage: SandboxStorage;
  state(): LibvirtState;
  /** @throws InfraError STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND, NETWORK_NOT_FOUND, NODE_DEVICE_NOT_FOUND, DOMAIN_EXISTS */
  define(definition: DomainDefinition): void;
  /** @throws InfraError DOMAIN_NOT_FOUND */
  domainOf(name: string, uuid?: string): LibvirtDomain;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE */
  start(name: string, uuid: string): void;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it is not running */
  stop(name: string, uuid: string): void;
  /** @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it is running */
  undefine(name: string, uuid: string): void;
}

/** Creates the host with its pools, networks, GPUs and VMs; VMs are off unless they have a state. */
export function createSandboxHost(options: SandboxHostOptions): SandboxHost {
  const { networks, gpus } = options;
  const storage = createSandboxStorage(options.pools);
  const domains = new Map<string, HostDomain>();

  function domainOf(name: string, uuid?: string): HostDomain {
    const found = domains.get(name);
    if (found === undefined || (uuid !== undefined && found.domain.uuid !== uuid)) {
      throw new InfraError(libvirtReasons.DOMAIN_NOT_FOUND, `there is no VM ${name}`);
    }
    return found;
  }

  function alter(name: string, change: Partial<LibvirtDomain>): void {
    const found = domainOf(name);
    domains.set(name, { ...found, domain: { ...found.domain, ...change } });
  }

  function assertThere({ disks, network, hostDevices }: DomainDefinition): void {
    for (const { pool, volume } of disks) {
      storage.volumeIn(pool, volume);
    }
    if (network !== undefined && !networks.includes(network)) {
      throw new InfraError(libvirtReasons.NETWORK_NOT_FOUND, `there is no network ${network}`);
    }
    for (const address of hostDevices) {
      if (!gpus.some(({ pciAddress }) => pciAddress === address)) {
        throw new InfraError(libvirtReasons.NODE_DEVICE_NOT_FOUND, `this host has no PCI device ${address}`);
      }
    }
  }

  const gpusOf = (addresses: readonly string[]) =>
    gpus.filter(({ pciAddress }) => addresses.includes(pciAddress));

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
    storage,
    state: () => ({
      domains: [...domains.values()].map(({ domain }) => domain).toSorted(byName),
      pools: storage.pools(),
      gpus,
    }),
    define(definition) {
      assertThere(definition);
      const { name, uuid, vcpuCount, memoryBytes, mark, disks, hostDevices } = definition;
      const others = [...domains.values()].filter(
        ({ domain }) => domain.name !== name || domain.uuid !== uuid,
      );
      if (others.some(({ domain }) => domain.name === name || domain.uuid === uuid)) {
        throw new InfraError(
          libvirtReasons.DOMAIN_EXISTS,
          `a VM with the name ${name} or the UUID ${uuid} already exists`,
        );
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
        throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is already running`);
      }
      for (const other of domains.values()) {
        const shared = other.hostDevices.find((address) => hostDevices.includes(address));
        if (isOn(other.domain) && shared !== undefined) {
          throw new InfraError(
            libvirtReasons.DOMAIN_STATE,
            `PCI device ${shared} is in use by the VM ${other.domain.name}`,
          );
        }
      }
      alter(name, { state: "running" });
    },
    stop(name, uuid) {
      if (!isOn(domainOf(name, uuid).domain)) {
        throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is not running`);
      }
      alter(name, { state: "shutOff" });
    },
    undefine(name, uuid) {
      if (isOn(domainOf(name, uuid).domain)) {
        throw new InfraError(libvirtReasons.DOMAIN_STATE, `the VM ${name} is running`);
      }
      domains.delete(name);
    },
  };
}

/** Reports whether it is using its resources: whether it is running or paused. */
export function isOn({ state }: Pick<LibvirtDomain, "state">): boolean {
  return state !== "shutOff" && state !== "crashed";
}

function diskTarget(device: "disk" | "cdrom", index: number): string {
  return `${device === "disk" ? "vd" : "sd"}${String.fromCharCode(97 + index)}`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
