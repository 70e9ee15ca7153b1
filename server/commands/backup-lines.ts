import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Backup } from "../../gen/hostplane/v1/backup_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";

export const backupHead = ["ID", "NAME", "VOLUME", "AS OF", "BYTES", "REPOSITORY", "STATE"];

/** Returns a row of the table headed by `backupHead`. */
export function backupRow(backup: Backup): string[] {
  const { id, name, volume, at, sizeBytes, repository } = backup;
  return [id, name, volume, timeText(at), String(sizeBytes), repository, stateOf(backup)];
}

/** Lists everything known about a backup, one fact per line. */
export function backupLines(backup: Backup): string[] {
  const facts: readonly (readonly [string, string])[] = [
    ["id", backup.id],
    ["name", backup.name],
    ["volume", backup.volume],
    ["host", backup.host],
    ["as of", timeText(backup.at)],
    ["bytes", String(backup.sizeBytes)],
    ["repository", backup.repository],
    ["snapshot", backup.snapshotId],
    ["key", backup.key === "" ? "its owner's" : `the gateway's ${backup.key}`],
    ["schedule", backup.schedule],
    ["requested", `by ${backup.actor}`],
    ["operation", backup.operationId],
    ["state", stateOf(backup)],
  ];
  return facts.flatMap(([name, value]) =>
    value === "" ? [] : [`${name.padEnd(10)} ${printableLine(value)}`],
  );
}

function stateOf({ damage, verifiedAt }: Backup): string {
  if (damage !== "") {
    return `damaged: ${printableLine(damage)}`;
  }
  return verifiedAt === undefined ? "not verified" : `verified on ${timeText(verifiedAt)}`;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
