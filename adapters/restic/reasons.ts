import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of restic: backups and their repositories. */
export const resticReasons = defineReasons({
  BACKUP_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no such backup, or its repository no longer contains it.",
  },
  BACKUP_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning: "The content of the repository is not what was backed up; the message says what is wrong.",
  },
  REPOSITORY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no backup repository at the given location.",
  },
  REPOSITORY_KEY_WRONG: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The repository cannot be opened with the given encryption key.",
  },
  REPOSITORY_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The repository's store rejects the access key or the request.",
  },
  REPOSITORY_UNREACHABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The repository's store does not answer.",
  },
  REPOSITORY_LOCKED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Another client has locked the repository exclusively.",
  },
});
