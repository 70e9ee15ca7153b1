import type { Snapshot } from "../host/snapshot.ts";
import type { LibvirtBackupAdapter } from "./backup-adapter.ts";

/**
 * What a domain does, in libvirt's words (virDomainState). `unknown`: libvirt knows the domain, but not what it does.
 */
export type DomainState =
  | "running"
  | "paused"
  | "shuttingDown"
  | "shutOff"
  | "crashed"
  | "suspended"
  | "unknown";

/** What the gateway has written into a domain that it made; it stands in the domain's metadata, in a namespace of its own. */
export interface DomainMark {
  /** Id of the hypervisor. */
  readonly hypervisorId: string;
  /** The operation that made it. */
  readonly operationId: string;
  /** Volumes that the operation has made for it, and that may be deleted with it: none that were there before. */
  readonly madeVolumes: readonly { readonly pool: string; readonly name: string }[];
}

/** A GPU that is handed to a domain: a PCI device of class 03. */
export interface DomainGpu {
  /** As `0000:41:00.0`. */
  readonly pciAddress: string;
  /** Vendor and product as the host's PCI database names them; empty when it does not. */
  readonly brand: string;
  readonly model: string;
}

/** Where a disk's or a filesystem's data is. */
export type StorageSource =
  /** A file, a block device or a directory of the host. */
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "volume"; readonly pool: string; readonly volume: string }
  /** Network storage and whatever else is no path of the host. */
  | { readonly kind: "other" };

/** A virtual machine that libvirt knows. */
export interface LibvirtDomain {
  readonly name: string;
  readonly uuid: string;
  readonly state: DomainState;
  /**
   * Why what libvirt tells of it cannot be read, as a sentence: its state is `unknown` then, and all but its name and UUID as
   * it was last known, or nothing. Absent otherwise.
   */
  readonly unreadableBecause?: string;
  /** Whether it is defined: one that is not is gone once it stops. */
  readonly isPersistent: boolean;
  /** Virtual CPUs at most. */
  readonly vcpuCount: number;
  /** Memory at most, in bytes. */
  readonly memoryBytes: bigint;
  /** Undefined for a domain that somebody else made. */
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
  /** `dir`, `logical`, `rbd`... */
  readonly type: string;
  /** Directory in which its volumes are seen; undefined where they are no files. */
  readonly targetPath: string | undefined;
  /** Figures of an inactive pool are 0. */
  readonly capacityBytes: bigint;
  readonly freeBytes: bigint;
}

/** All that the gateway reads of libvirt, in the order of names. */
export interface LibvirtState {
  readonly domains: readonly LibvirtDomain[];
  readonly pools: readonly LibvirtPool[];
  /** GPUs of the host, in the order of their addresses. */
  readonly gpus: readonly DomainGpu[];
}

/** A domain that is to be defined. Names must have passed `names.ts`. */
export interface DomainDefinition {
  readonly name: string;
  readonly uuid: string;
  readonly vcpuCount: number;
  readonly memoryBytes: bigint;
  readonly mark: DomainMark;
  /** Serial number that the guest reads in SMBIOS. */
  readonly serial: string;
  /** Disks in order, as volumes of pools; the first is what it boots from. */
  readonly disks: readonly {
    readonly pool: string;
    readonly volume: string;
    readonly format: "qcow2" | "raw";
    readonly device: "disk" | "cdrom";
  }[];
  /** Name of a libvirt network; undefined for none. */
  readonly network: string | undefined;
  /** PCI addresses of host devices that are handed to it. */
  readonly hostDevices: readonly string[];
}

/** One change that libvirt makes. */
export type LibvirtStep =
  | {
      readonly kind: "createVolume";
      readonly pool: string;
      readonly name: string;
      readonly format: "qcow2" | "raw";
      readonly sizeBytes: bigint;
      /** A qcow2 volume of the same pool that it begins as; it is only read. */
      readonly backingVolume?: string;
      /** Of a raw one: takes all its space at once, so that writing to it cannot end for want of it. */
      readonly isPreallocated?: boolean;
    }
  | {
      /** Makes (or makes anew) an ISO image that cloud-init takes host name and instance id from (NoCloud). */
      readonly kind: "writeSeed";
      readonly pool: string;
      readonly name: string;
      readonly hostname: string;
      readonly instanceId: string;
    }
  | { readonly kind: "deleteVolume"; readonly pool: string; readonly name: string }
  | { readonly kind: "refreshPool"; readonly pool: string }
  | { readonly kind: "define"; readonly domain: DomainDefinition }
  /** `shutDown` asks the guest by ACPI and does not wait; `powerOff` takes its power. */
  | { readonly kind: "start" | "shutDown" | "powerOff"; readonly name: string; readonly uuid: string }
  /** With its managed save, snapshot and checkpoint metadata and NVRAM; its volumes stay. */
  | { readonly kind: "undefine"; readonly name: string; readonly uuid: string };

/** How it is known that a guest is up. */
export type Readiness =
  /** The guest agent answers. */
  | { readonly kind: "agent" }
  /** A TCP port of the guest takes connections. */
  | { readonly kind: "tcp"; readonly port: number };

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface LibvirtFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface LibvirtNetwork {
  readonly name: string;
  /** A domain on one that is not cannot be started. */
  readonly isActive: boolean;
}

export interface LibvirtInspection {
  /** Of libvirt, e.g. `9.0.0`; undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly LibvirtFinding[];
  /** Undefined when libvirt does not tell. */
  readonly networks: readonly LibvirtNetwork[] | undefined;
}

/**
 * Libvirt on this host. The real one speaks libvirt's RPC over its unix socket; the sandbox keeps the same rules in
 * memory. Both pass test/adapters/libvirt/contract.ts.
 */
export interface LibvirtAdapter extends LibvirtBackupAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * The newest state, kept by libvirt's own events: a read costs no call while nothing has changed, and readers share
   * what it does cost. A read that begins after a `run` has ended sees what it did. A domain that cannot be read is told as
   * such, and keeps no others from being read.
   * @throws InfraError LIBVIRT_UNAVAILABLE and its like, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<LibvirtState>>;

  /**
   * Calls back after each change of the state, whoever made it, when libvirt is gone and when it is back (a reader learns
   * which from `read`). Returns the function that ends it.
   */
  subscribe(onChange: () => void): () => void;

  /** What `run` would call for the step, as libvirt's function with its arguments, for people. */
  commandOf(step: LibvirtStep): readonly string[];

  /**
   * Makes one change and ends when libvirt has made it; the state is stale from then on. What a step is about is told by
   * name and UUID both, so that it never meets a namesake.
   * @param signal gives up a `writeSeed`; others run to their end
   * @throws InfraError DOMAIN_EXISTS, DOMAIN_NOT_FOUND, DOMAIN_STATE, STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_EXISTS,
   *   STORAGE_VOLUME_NOT_FOUND, INVALID_FIELD, NETWORK_NOT_FOUND, NODE_DEVICE_NOT_FOUND, NO_SPACE, LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED,
   *   LIBVIRT_FAILED
   */
  run(step: LibvirtStep, signal?: AbortSignal): Promise<void>;

  /** Whether a pool has a volume of this name. @throws InfraError STORAGE_POOL_NOT_FOUND and as `read` */
  hasVolume(pool: string, name: string): Promise<boolean>;

  /** Whether a guest is up now. Never waits longer than 2 s. @throws InfraError DOMAIN_NOT_FOUND, LIBVIRT_UNAVAILABLE */
  isReady(name: string, readiness: Readiness, signal: AbortSignal): Promise<boolean>;

  /** Of libvirt, e.g. `9.0.0`. Asked once for each connection. @throws InfraError as `read` */
  version(): Promise<string>;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<LibvirtInspection>;

  /** What backups of running domains need beside it: what is there and what is missing. Never throws. */
  inspectBackups(): Promise<readonly LibvirtFinding[]>;

  close(): Promise<void>;
}
