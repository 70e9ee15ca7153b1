import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of backups of any domain, beside those of restic. */
export const backupReasons = defineReasons({
  BACKUP_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume already has a backup of this name.",
  },
  BACKUP_TOO_YOUNG: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning:
      "The backup is younger than `volumes.backup.minimumAgeHours`, and cannot be deleted before that age.",
  },
  ENDPOINT_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The endpoint, the proxy or unverified TLS is not permitted by `volumes.backup.allowEndpoints`.",
  },
  VOLUME_TOO_SMALL: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "The requested volume is smaller than its content; nothing was created.",
  },
});
