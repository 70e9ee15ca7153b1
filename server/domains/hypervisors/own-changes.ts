import type { LibvirtAdapter } from "../../../adapters/libvirt/adapter.ts";
import { createOwnChangeLog, type OwnChangeLog } from "../../events/own-change-log.ts";

/** A change that an operation of this gateway makes. */
export interface OwnChange {
  readonly hypervisorId: string;
  readonly operationId: string;
}

/** Tells this gateway's own changes of hypervisors from those of others. */
export type OwnChanges = OwnChangeLog<OwnChange>;

export function createOwnChanges(libvirt: Pick<LibvirtAdapter, "read">): OwnChanges {
  return createOwnChangeLog<OwnChange>(() => libvirt.read());
}
