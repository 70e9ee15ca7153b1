import type { Reason } from "../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import { lvmBackupReasons } from "./reasons.ts";

/** Reasons for which a change of an LVM volume, or its backup, fails. */
export const reasonsOfLvmVolumes: readonly Reason[] = [
  lvmReasons.VOLUME_NOT_FOUND,
  lvmReasons.VOLUME_EXISTS,
  hostReasons.NO_SPACE,
  hostReasons.VOLUME_IN_USE,
  lvmReasons.VOLUME_PROTECTED,
  lvmBackupReasons.VOLUME_INACTIVE,
];
