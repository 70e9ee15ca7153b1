import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { reasonsOfBackups } from "../../backups/call-reasons.ts";
import {
  type CallReasons,
  reasonsOfOperations,
  reasonsOfSystems,
  reasonsOfTools,
} from "../../domain/call-reasons.ts";
import { reasonsOfLvmVolumes } from "../../lvm/call-reasons.ts";
import { hypervisorReasons } from "./reasons.ts";

/** Reasons for which the calls of hypervisors and of their storage pool fail. */
export const hypervisorCallReasons: CallReasons = {
  tables: [hypervisorReasons, libvirtReasons, lvmReasons],
  every: [
    ...reasonsOfSystems,
    ...reasonsOfTools,
    libvirtReasons.LIBVIRT_UNAVAILABLE,
    libvirtReasons.LIBVIRT_DENIED,
    libvirtReasons.LIBVIRT_FAILED,
    libvirtReasons.DOMAIN_NOT_FOUND,
    libvirtReasons.DOMAIN_STATE,
    libvirtReasons.STORAGE_POOL_NOT_FOUND,
    libvirtReasons.AGENT_UNRESPONSIVE,
    hypervisorReasons.HYPERVISOR_NOT_FOUND,
  ],
  change: [
    ...reasonsOfOperations,
    ...Object.values(hypervisorReasons),
    ...Object.values(libvirtReasons),
    ...reasonsOfLvmVolumes,
    lvmReasons.VOLUME_GROUP_GONE,
    lvmReasons.POOL_CANNOT_SHRINK,
    lvmReasons.DEVICE_NOT_USABLE,
    ...reasonsOfBackups,
  ],
};
