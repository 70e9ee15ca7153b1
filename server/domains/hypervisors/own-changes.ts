import type { LibvirtAdapter, LibvirtStep } from "../../../adapters/libvirt/adapter.ts";
import { createOwnChangeLog, type OwnChangeLog } from "../../events/own-change-log.ts";
import type { HypervisorDifference } from "./events/hypervisor-differences.ts";

/** A change that an operation of this gateway makes. */
export interface OwnChange {
  readonly hypervisorId: string;
  readonly operationId: string;
  readonly step: LibvirtStep["kind"];
}

type DifferenceType = HypervisorDifference["type"];

/** What each step can change of a hypervisor. A VM may be unreadable for a moment while it changes. */
const typesOf: Readonly<Record<LibvirtStep["kind"], readonly DifferenceType[]>> = {
  createVolume: [],
  writeSeed: [],
  deleteVolume: [],
  refreshPool: [],
  define: ["hypervisor.added", "hypervisor.changed", "hypervisor.unknown"],
  start: ["hypervisor.started", "hypervisor.changed", "hypervisor.unknown"],
  shutDown: ["hypervisor.stopped", "hypervisor.changed", "hypervisor.unknown"],
  powerOff: ["hypervisor.stopped", "hypervisor.changed", "hypervisor.unknown"],
  undefine: ["hypervisor.removed", "hypervisor.changed", "hypervisor.unknown"],
};

/** Whether a difference can come from a change. */
export function isEffectOf(
  { hypervisorId, step }: OwnChange,
  { type, hypervisor }: HypervisorDifference,
): boolean {
  return hypervisorId === hypervisor.id && typesOf[step].includes(type);
}

/** Tells this gateway's own changes of hypervisors from those of others. */
export type OwnChanges = OwnChangeLog<OwnChange>;

export function createOwnChanges(libvirt: Pick<LibvirtAdapter, "read">): OwnChanges {
  return createOwnChangeLog<OwnChange>(() => libvirt.read());
}
