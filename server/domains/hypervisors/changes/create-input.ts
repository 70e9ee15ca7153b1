import { createHash } from "node:crypto";
import type { DomainDefinition, LibvirtPool } from "../../../../adapters/libvirt/adapter.ts";
import type { Json } from "../../../operations/operation.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { HypervisorTemplate, ReadyWhen } from "../hypervisor-settings.ts";

/**
 * Input of hypervisors.create, as configured at the time of the request. A type alias, since an interface is not assignable
 * to Json.
 */
export type CreateInput = {
  readonly id: string;
  /** Null for a hypervisor that was created outside hostplane and only has to be started. */
  readonly template: CreateTemplate | null;
};

export type CreateTemplate = {
  readonly vcpuCount: number;
  readonly memoryMib: number;
  readonly pool: string;
  readonly sizeGib: number;
  readonly backing: string | null;
  readonly network: string | null;
  readonly gpus: readonly string[];
  readonly seed: boolean;
  readonly ready:
    | { readonly kind: "started" }
    | { readonly kind: "agent" }
    | { readonly kind: "tcp"; readonly port: number };
  readonly readyTimeoutSeconds: number;
};

/** Output of the step `check`. */
export type CheckOutput = {
  /** `start`: the VM is defined already, and only has to be started. */
  readonly mode: "make" | "start";
  /** UUID of the VM. */
  readonly uuid: string;
  readonly format: "qcow2" | "raw";
  /** Whether these volumes existed before the operation, which then does not delete them when it is undone. */
  readonly hasDisk: boolean;
  readonly hasSeed: boolean;
};

export type CreateRun = StepRun<CreateInput, null>;
export type CreateStep = OperationStep<CreateInput, null>;

/** Copies a template, so that a change of the configuration does not affect a running operation. */
export function createInputFrom(id: string, template: HypervisorTemplate | undefined): CreateInput {
  if (template === undefined) {
    return { id, template: null };
  }
  const { disk, network = null, vcpuCount, memoryMib, gpus, seed, ready, readyTimeoutSeconds } = template;
  const { pool, sizeGib, backing = null } = disk;
  const facts = { vcpuCount, memoryMib, gpus, seed, ready, readyTimeoutSeconds };
  return { id, template: { ...facts, pool, sizeGib, backing, network } };
}

/** Returns the output of `check`. @throws Error if it has not run */
export function checkedBy({ output }: { output(step: string): Json | undefined }): CheckOutput {
  const checked = output("check");
  if (checked === undefined) {
    throw new Error("the step check has not run");
  }
  return checked as CheckOutput;
}

/** Types of pools that hold files, which may be qcow2; volumes of other pools are raw. */
const fileTypes: ReadonlySet<string> = new Set(["dir", "fs", "netfs", "gluster", "vstorage"]);

/** Returns the format of the disks that are created in a pool. */
export function formatIn({ type }: Pick<LibvirtPool, "type">): CheckOutput["format"] {
  return fileTypes.has(type) ? "qcow2" : "raw";
}

/**
 * Returns the name of a hypervisor's disk. It is always the same, so that a kept disk is found again, and unlikely to collide
 * with other names. The same goes for `seedName`.
 */
export function diskName(id: string, format: CheckOutput["format"]): string {
  return format === "qcow2" ? `hypervisor-${id}.qcow2` : `hypervisor-${id}`;
}

/** Returns the name of a hypervisor's cloud-init seed in the pool of its disk. */
export function seedName(id: string): string {
  return `hypervisor-${id}-seed.iso`;
}

/** Returns the UUID of the VM that an operation creates, derived from the operation's id (RFC 9562, version 8). */
export function domainUuid(operationId: string): string {
  const hex = createHash("sha256").update(`hostplane domain ${operationId}`).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the definition of a template's VM.
 * @param isDiskCreated whether the operation created the disk, instead of finding an existing one
 */
export function definitionOf(
  id: string,
  template: CreateTemplate,
  operationId: string,
  { uuid, format, isDiskCreated }: Pick<CheckOutput, "uuid" | "format"> & { readonly isDiskCreated: boolean },
): DomainDefinition {
  const { vcpuCount, memoryMib, pool, network, gpus, seed } = template;
  const disk = { pool, volume: diskName(id, format), format, device: "disk" } as const;
  const cdrom = { pool, volume: seedName(id), format: "raw", device: "cdrom" } as const;
  // A seed is always written by the operation, even if one existed.
  const created = [...(isDiskCreated ? [disk] : []), ...(seed ? [cdrom] : [])];
  const createdVolumes = created.map(({ volume }) => ({ pool, name: volume }));
  return {
    name: id,
    uuid,
    vcpuCount,
    memoryBytes: BigInt(memoryMib) << 20n,
    mark: { hypervisorId: id, operationId, createdVolumes },
    serial: id,
    disks: seed ? [disk, cdrom] : [disk],
    network: network ?? undefined,
    hostDevices: gpus,
  };
}

/** Returns the condition under which the hypervisor counts as created. */
export function readyWhenOf({ template }: CreateInput): ReadyWhen {
  return template?.ready ?? { kind: "started" };
}
