import type { Readiness } from "../../../adapters/libvirt/adapter.ts";

/** A hypervisor that can be created. */
export interface HypervisorTemplate {
  readonly id: string;
  readonly vcpuCount: number;
  readonly memoryMib: number;
  readonly disk: { readonly pool: string; readonly sizeGib: number; readonly backing?: string };
  readonly network?: string;
  /** PCI addresses of the GPUs that are passed through to it. */
  readonly gpus: readonly string[];
  /** Whether it gets a cloud-init seed. */
  readonly seed: boolean;
  readonly ready: ReadyWhen;
  readonly readyTimeoutSeconds: number;
}

/** Condition under which a hypervisor counts as created; `started`: as soon as it is started. */
export type ReadyWhen = Readiness | { readonly kind: "started" };

/** Location of the storage that hypervisors share. */
export interface SharedStorage {
  readonly volumeGroup?: string;
  readonly directory?: string;
  /** The libvirt storage pool on that storage. */
  readonly libvirtPool?: string;
  /** Present if it is backed up. */
  readonly backup?: object;
}

/** Configuration of hypervisors. */
export interface HypervisorSettings {
  /** One per id; ids are unique. */
  readonly templates: readonly HypervisorTemplate[];
  /** Name patterns of VMs that count as hypervisors although they were created outside hostplane. */
  readonly match: readonly string[];
  readonly destroy: {
    /** Time for the guest to shut down before its VM is powered off; 0: no shutdown is requested. */
    readonly graceSeconds: number;
    readonly deleteVolumes: boolean;
  };
  /** Absent: no shared storage. */
  readonly sharedStorage?: SharedStorage;
}

/** Parses `started`, `agent` or `tcp:22`, which the configuration has already validated. */
export function readyWhenFrom(text: string): ReadyWhen {
  const [kind, port] = text.split(":");
  if (port !== undefined) {
    return { kind: "tcp", port: Number(port) };
  }
  return { kind: kind === "agent" ? "agent" : "started" };
}
