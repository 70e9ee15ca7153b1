import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of backups of LVM volumes. */
export const lvmBackupReasons = defineReasons({
  VOLUME_INACTIVE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume is not active and so has no block device to read; the message has the command that activates it.",
  },
  SNAPSHOT_FULL: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The volume changed more during its backup than its snapshot has room for: raise `snapshotPercent` of its backups.",
  },
});
