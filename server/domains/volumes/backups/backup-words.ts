import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { describePlace, placeOf } from "../../../backups/repository-place.ts";
import type { BackupRow } from "../../../backups/store/backups.ts";
import type { Operation } from "../../../operations/operation.ts";

/** Describes a completed backup, for the message of a poll. */
export function backupDone(row: BackupRow): string {
  const place = describePlace(placeOf(row));
  const key = row.key_name === null ? "its owner's key" : `the gateway's key ${row.key_name}`;
  const at = new Date(row.at).toISOString();
  return `backup ${row.id}: ${describeSize(BigInt(row.size_bytes))} as of ${at}, stored in ${place} as snapshot ${row.snapshot_id.slice(0, 8)}, encrypted with ${key}`;
}

/** Describes a backup in progress, for the message of a poll. */
export function backupUnderWay({ id, state, message, waitingFor, doneBytes, totalBytes }: Operation): string {
  const what = state === "scheduled" ? waitingFor || message || "queued" : message;
  const bytes =
    doneBytes === undefined || totalBytes === undefined || totalBytes === 0
      ? ""
      : ` (${Math.floor((100 * doneBytes) / totalBytes)} %, ${doneBytes} of ${totalBytes} bytes)`;
  return `${what}${bytes}; operation ${id}`;
}

/** Describes why an operation that has ended did not succeed. */
export function backupFailed({ id, state, message, failure, attention }: Operation): string {
  if (state === "cancelled") {
    return `cancelled; operation ${id}`;
  }
  const left = attention === undefined ? "" : ` ${[...attention.left, ...attention.advice].join(" ")}`;
  return `${failure?.message ?? message}${left === "" ? "" : `.${left}`}; operation ${id}`;
}
