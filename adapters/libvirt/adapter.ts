import type { Snapshot } from "../host/snapshot.ts";
import type { LibvirtBackupAdapter } from "./backup-adapter.ts";

/** State of a VM in libvirt's terms (virDomainState). `unknown`: libvirt knows the VM, but not its state. */
export type DomainState =
  | "running"
  | "paused"
  | "shuttingDown"
  | "shutOff"
  | "crashed"
  | "suspended"
  | "unknown";

/** Data that the gateway stores in a VM that it created, in the domain's metadata under its own XML namespace. */
export interface DomainMark {
  /** Id of the hypervisor. */
  readonly hypervisorId: string;
  /** The operation that created it. */
  readonly operationId: string;
  /** Volumes that the operation created for it, which may be deleted with it; none that existed before. */
  readonly createdVolumes: readonly { readonly pool: string; readonly name: string }[];
}

/** A GPU that can be passed through to a VM: a PCI device of class 03. */
export interface DomainGpu {
  /** E.g. `0000:41:00.0`. */
  readonly pciAddress: string;
  /** Vendor and product from the host's PCI database; empty if unknown. */
  readonly brand: string;
  readonly model: string;
}

/** Location of the data of a disk or filesystem. */
export type StorageSource =
  /** A file, a block device or a directory of the host. */
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "volume"; readonly pool: string; readonly volume: string }
  /** Network storage and everything else without a path on the host. */
  | { readonly kind: "other" };

/** A virtual machine, which libvirt calls a domain. */
export interface LibvirtDomain {
  readonly name: string;
  readonly uuid: string;
  readonly state: DomainState;
  /**
   * Why its description cannot be read, as a sentence. Its state is then `unknown`, and everything but its name and
   * UUID is as last known, or empty. Absent otherwise.
   */
  readonly unreadableBecause?: string;
  /** Whether it is defined; an undefined one disappears when it stops. */
  readonly isPersistent: boolean;
  /** Maximum number of virtual CPUs. */
  readonly vcpuCount: number;
  /** Maximum memory, in bytes. */
  readonly memoryBytes: bigint;
  /** Undefined for a VM that the gateway did not create. */
  readonly mark: DomainMark | undefined;
  readonly gpus: readonly DomainGpu[];
  readonly disks: readonly { readonly target: string; readonly source: StorageSource }[];
  readonly filesystems: readonly { readonly target: string; readonly source: StorageSource }[];
}

/** A storage pool of libvirt. */
export interface LibvirtPool {
  readonly name: string;
  readonly uuid: string;
  readonly isActive: boolean;
  /** `dir`, `logical`, `rbd`, ... */
  readonly type: string;
  /** Directory that shows its volumes; undefined if they are not files. */
  readonly targetPath: string | undefined;
  /** The sizes are 0 for an inactive pool. */
  readonly capacityBytes: bigint;
  readonly freeBytes: bigint;
}

/** Everything that the gateway reads from libvirt, sorted by name. */
export interface LibvirtState {
  readonly domains: readonly LibvirtDomain[];
  readonly pools: readonly LibvirtPool[];
  /** GPUs of the host, sorted by address. */
  readonly gpus: readonly DomainGpu[];
}

/** A VM to define. Names must have passed `names.ts`. */
export interface DomainDefinition {
  readonly name: string;
  readonly uuid: string;
  readonly vcpuCount: number;
  readonly memoryBytes: bigint;
  readonly mark: DomainMark;
  /** Serial number that the guest sees in SMBIOS. */
  readonly serial: string;
  /** Disks in order, as volumes of pools; the VM boots from the first. */
  readonly disks: readonly {
    readonly pool: string;
    readonly volume: string;
    readonly format: "qcow2" | "raw";
    readonly device: "disk" | "cdrom";
  }[];
  /** Name of a libvirt network; undefined for none. */
  readonly network: string | undefined;
  /** PCI addresses of host devices to pass through. */
  readonly hostDevices: readonly string[];
}

/** A change that libvirt makes. */
export type LibvirtStep =
  | {
      readonly kind: "createVolume";
      readonly pool: string;
      readonly name: string;
      readonly format: "qcow2" | "raw";
      readonly sizeBytes: bigint;
      /** Backing file: a qcow2 volume of the same pool with the initial content. It is only read. */
      readonly backingVolume?: string;
      /** Allocates all space at creation, so that later writes cannot run out of it. Only for raw volumes. */
      readonly isPreallocated?: boolean;
    }
  | {
      /** Creates or replaces an ISO image from which cloud-init reads host name and instance id (NoCloud). */
      readonly kind: "writeSeed";
      readonly pool: string;
      readonly name: string;
      readonly hostname: string;
      readonly instanceId: string;
    }
  | { readonly kind: "deleteVolume"; readonly pool: string; readonly name: string }
  | { readonly kind: "refreshPool"; readonly pool: string }
  | { readonly kind: "define"; readonly domain: DomainDefinition }
  /** `shutDown` asks the guest via ACPI and does not wait; `powerOff` stops the VM at once. */
  | { readonly kind: "start" | "shutDown" | "powerOff"; readonly name: string; readonly uuid: string }
  /** Also removes its managed save, snapshot and checkpoint metadata and NVRAM; its volumes stay. */
  | { readonly kind: "undefine"; readonly name: string; readonly uuid: string };

/** Test of whether a guest is up. */
export type Readiness =
  /** The guest agent answers. */
  | { readonly kind: "agent" }
  /** A TCP port of the guest accepts connections. */
  | { readonly kind: "tcp"; readonly port: number };

/** A check result that `hostplane doctor` and ListBackends report. */
export interface LibvirtFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface LibvirtNetwork {
  readonly name: string;
  /** A VM cannot be started on an inactive network. */
  readonly isActive: boolean;
}

export interface LibvirtInspection {
  /** Libvirt's version, e.g. `9.0.0`; undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly LibvirtFinding[];
  /** Undefined when libvirt cannot list them. */
  readonly networks: readonly LibvirtNetwork[] | undefined;
}

/**
 * Libvirt on this host. The real adapter speaks libvirt's RPC over its unix socket; the sandbox applies the same rules
 * in memory. Both pass test/adapters/libvirt/contract.ts.
 */
export interface LibvirtAdapter extends LibvirtBackupAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * Returns the current state, which is updated from libvirt's events. A read makes no calls while nothing has changed,
   * and concurrent readers share the calls. A read that starts after a `run` has finished includes its change. A VM
   * that cannot be read is marked as such and does not affect the others.
   * @throws InfraError LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED, TOOL_OUTPUT, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<LibvirtState>>;

  /**
   * Calls back after each change of the state, whatever its source, and when libvirt becomes unreachable or reachable
   * again (`read` shows which). Returns a function that unsubscribes.
   */
  subscribe(onChange: () => void): () => void;

  /** Returns the libvirt function that `run` would call for the step, with its arguments, for display. */
  commandOf(step: LibvirtStep): readonly string[];

  /**
   * Makes one change and resolves when libvirt has made it; the cached state is stale from then on. A step identifies
   * its object by both name and UUID, so that it never affects another one of the same name.
   * @param signal cancels a `writeSeed`; other steps run to completion
   * @throws InfraError DOMAIN_EXISTS, DOMAIN_NOT_FOUND, DOMAIN_STATE, STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_EXISTS,
   *   STORAGE_VOLUME_NOT_FOUND, INVALID_FIELD, NETWORK_NOT_FOUND, NODE_DEVICE_NOT_FOUND, NO_SPACE,
   *   LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED
   */
  run(step: LibvirtStep, signal?: AbortSignal): Promise<void>;

  /** Reports whether a pool has a volume of this name. @throws InfraError STORAGE_POOL_NOT_FOUND and as `read` */
  hasVolume(pool: string, name: string): Promise<boolean>;

  /** Reports whether a guest is up. Waits at most 2 s. @throws InfraError DOMAIN_NOT_FOUND, LIBVIRT_UNAVAILABLE */
  isReady(name: string, readiness: Readiness, signal: AbortSignal): Promise<boolean>;

  /** Returns libvirt's version, e.g. `9.0.0`; queried once per connection. @throws InfraError as `read` */
  version(): Promise<string>;

  /** Checks the libvirt installation. Never throws. */
  inspect(): Promise<LibvirtInspection>;

  /** Checks the additional requirements of backups of running VMs. Never throws. */
  inspectBackups(): Promise<readonly LibvirtFinding[]>;

  close(): Promise<void>;
}
