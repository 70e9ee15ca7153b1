import type { Operation } from "../../../operations/operation.ts";
import type { OperationFilters } from "../../../operations/operation-filters.ts";
import type { BackupParts } from "./backup-parts.ts";
import type { BackupSchedule } from "./backup-schedule.ts";

const limit = 1000;

/** Who asks for the operations of a schedule. */
export function actorOf({ name }: Pick<BackupSchedule, "name">): string {
  return `schedule/${name}`;
}

/** Operations of this host, newest first; of several hosts on one store the newest 1,000 are looked at. */
export async function operationsOfSchedule(
  { operations, host }: Pick<BackupParts, "operations" | "host">,
  filters: OperationFilters,
): Promise<Operation[]> {
  const page = await operations.list(filters, { belowSeq: undefined, limit });
  return page.operations.filter((operation) => operation.host === host);
}
