import {
  createHypervisorList,
  type HypervisorListOptions,
  type ListedHypervisors,
} from "./hypervisor-list.ts";
import { createOpenChanges, type OpenChangesOptions } from "./open-changes.ts";

/** The hypervisors of this host. */
export interface Hypervisors {
  /** Returns the inventory as libvirt has it. */
  read(signal: AbortSignal): Promise<ListedHypervisors>;
  /**
   * Returns the inventory as callers see it: until the operation ends, a hypervisor that is being created counts as off, and
   * one that is being destroyed as running. The state shows which call is accepted.
   */
  list(signal: AbortSignal): Promise<ListedHypervisors>;
}

/** @param options of the inventory of libvirt's VMs, and of the operations that are running */
export function createHypervisors(options: HypervisorListOptions & OpenChangesOptions): Hypervisors {
  const read = createHypervisorList(options);
  const openChanges = createOpenChanges(options);
  return {
    read,
    async list(signal) {
      const listed = await read(signal);
      return { ...listed, hypervisors: await openChanges(listed.hypervisors) };
    },
  };
}
