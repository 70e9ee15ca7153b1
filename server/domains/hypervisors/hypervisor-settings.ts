import type { Readiness } from "../../../adapters/libvirt/adapter.ts";

/** A hypervisor that can be made. */
export interface HypervisorTemplate {
  readonly id: string;
  readonly vcpuCount: number;
  readonly memoryMib: number;
  readonly disk: { readonly pool: string; readonly sizeGib: number; readonly backing?: string };
  readonly network?: string;
  /** PCI addresses of the GPUs that it is handed. */
  readonly gpus: readonly string[];
  /** Whether it gets a seed for cloud-init. */
  readonly seed: boolean;
  readonly ready: ReadyWhen;
  readonly readyTimeoutSeconds: number;
}

/** When a hypervisor counts as created; `started`: at once. */
export type ReadyWhen = Readiness | { readonly kind: "started" };

/** Where the storage is that hypervisors share. */
export interface SharedStorage {
  readonly volumeGroup?: string;
  readonly directory?: string;
  /** The storage pool of libvirt that shows it. */
  readonly libvirtPool?: string;
  /** Present where it is backed up. */
  readonly backup?: object;
}

/** What the configuration says of hypervisors. */
export interface HypervisorSettings {
  /** One for each id; ids are distinct. */
  readonly templates: readonly HypervisorTemplate[];
  /** Patterns of the names of domains that are hypervisors although others made them. */
  readonly match: readonly string[];
  readonly destroy: {
    /** How long a guest is asked to shut down before its power is taken; 0: not at all. */
    readonly graceSeconds: number;
    readonly deleteVolumes: boolean;
  };
  /** Absent: none. */
  readonly sharedStorage?: SharedStorage;
}

/** `started`, `agent` or `tcp:22`, as the configuration has it, which has checked it. */
export function readyWhenFrom(text: string): ReadyWhen {
  const [kind, port] = text.split(":");
  if (port !== undefined) {
    return { kind: "tcp", port: Number(port) };
  }
  return { kind: kind === "agent" ? "agent" : "started" };
}
