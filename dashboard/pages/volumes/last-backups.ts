import { type Resource, ResourceHealth } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";

/** Returns when the last backup of each volume was made that is not damaged, by the volume's resource; milliseconds since 1970. */
export function lastBackups(backups: readonly Resource[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const backup of backups) {
    const { volume } = backup.labels;
    const atMs = (figureOf(backup, "created") ?? 0) * 1000;
    if (volume !== undefined && backup.health !== ResourceHealth.FAILED && atMs > (last.get(volume) ?? 0)) {
      last.set(volume, atMs);
    }
  }
  return last;
}
