import type { LibvirtAdapter, LibvirtStep } from "../../../../adapters/libvirt/adapter.ts";
import { type Attribution, createOwnChangeLog, type OwnChangeLog } from "../../../events/own-change-log.ts";
import type { HypervisorDifference } from "./hypervisor-differences.ts";

/** A change by an operation of this gateway. */
export interface OwnChange {
  readonly hypervisorId: string;
  readonly operationId: string;
  readonly step: LibvirtStep["kind"];
}

type DifferenceType = HypervisorDifference["type"];

/** Differences that each step can cause. A VM may be unreadable for a moment while it changes. */
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

/** Distinguishes this gateway's changes of hypervisors from changes by others. */
export type OwnChanges = Pick<OwnChangeLog<OwnChange>, "during"> &
  Attribution<HypervisorDifference, OwnChange>;

/** @param libvirt read to find out when a change is visible in its state */
export function createOwnChanges(libvirt: Pick<LibvirtAdapter, "read">): OwnChanges {
  const log = createOwnChangeLog<OwnChange>(() => libvirt.read());
  return {
    during: log.during,
    find: ({ type, hypervisor }, readAtMs) =>
      log.find(
        ({ hypervisorId, step }) => hypervisorId === hypervisor.id && typesOf[step].includes(type),
        readAtMs,
      ),
    forget: log.forget,
  };
}
