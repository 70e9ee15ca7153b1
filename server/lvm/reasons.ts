import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of operations that read a snapshot of an LVM volume: backups and clones. */
export const lvmBackupReasons = defineReasons({
  VOLUME_INACTIVE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume is not active and so has no block device; the message has the command that activates it.",
  },
  SNAPSHOT_FULL: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The volume changed more while it was backed up or copied than its snapshot has space for; the message says what to raise.",
  },
});
