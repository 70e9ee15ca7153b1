import { describeSize } from "../../adapters/host/describe-size.ts";
import { type StoragePool, StoragePoolKind } from "../../gen/hostplane/v1/storage_pool_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { textTable } from "../cli/table/text-table.ts";

const kinds: Readonly<Record<StoragePoolKind, string>> = {
  [StoragePoolKind.UNSPECIFIED]: "pool",
  [StoragePoolKind.VOLUME_GROUP]: "volume group",
  [StoragePoolKind.DIRECTORY]: "directory",
};

/** Describes the pool in one line. */
export function poolSummary({ name, kind, sizeBytes, usedBytes, freeBytes }: StoragePool): string {
  return printableLine(
    `${kinds[kind]} ${name}: ${describeSize(sizeBytes)}, used ${describeSize(usedBytes)}, free ${describeSize(freeBytes)}`,
  );
}

/** Formats the pool: a summary, a line for each of its devices, and one for each spare. */
export function poolLines(pool: StoragePool): string[] {
  const devices = pool.devices.map(({ path, sizeBytes, usedBytes, missing, configured }) => [
    path,
    String(sizeBytes),
    String(usedBytes),
    missing ? "missing" : configured ? "in the pool" : "in the pool, not removable: not in the configuration",
  ]);
  const spares = pool.spares.map(({ path, sizeBytes, unusable }) => [
    path,
    String(sizeBytes),
    "",
    unusable === "" ? "spare" : `not usable: ${unusable}`,
  ]);
  const rows = [...devices, ...spares].map((row) => row.map(printableLine));
  const table = rows.length === 0 ? [] : textTable(["DEVICE", "BYTES", "USED", "STATE"], rows);
  return [poolSummary(pool), ...table];
}
