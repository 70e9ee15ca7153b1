import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of the gateway's database. */
export const storeReasons = defineReasons({
  STORE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The gateway's database cannot currently be reached, read or written; the log says why.",
  },
  RECORD_CHANGED: {
    code: "ABORTED",
    retryable: true,
    meaning: "What the call changes was repeatedly changed by other calls meanwhile; nothing was done.",
  },
  STORE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Another process has the database file open, or another gateway uses the PostgreSQL database and one of them serves systems of its own host; the message names it.",
  },
  STORE_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "There is no database yet; the gateway creates it at its first start.",
  },
  STORE_KIND_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database was created by a sandbox and the gateway is a real one, or the other way round.",
  },
  MASTER_KEY_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database needs a master key that was not given; the message names it.",
  },
  MASTER_KEY_UNCHANGED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The master key was not changed; the message says why.",
  },
  STORE_NEWER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "A newer version of the gateway has used the database; docs/how-to/upgrade.md describes how to downgrade.",
  },
  STORE_NOT_EMPTY: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The target database already has tables.",
  },
  STORE_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning:
      "The database file is damaged or not a database; docs/how-to/upgrade.md describes how to restore a backup.",
  },
  BACKUP_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The backup was not written: its file exists or cannot be created, or the database is PostgreSQL.",
  },
});
