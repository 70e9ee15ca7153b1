import type { Operation } from "../../../../operations/operation.ts";
import type { OperationFilters } from "../../../../operations/operation-filters.ts";
import type { BackupParts } from "../backup-parts.ts";
import type { BackupSchedule } from "./backup-schedule.ts";

const limit = 1000;

/** Returns the actor that operations of a schedule run as. */
export function actorOf({ name }: Pick<BackupSchedule, "name">): string {
  return `schedule/${name}`;
}

/** Returns matching operations of this host, newest first. It considers the newest 1,000 of all hosts that share the store. */
export async function operationsOfSchedule(
  { operations, host }: Pick<BackupParts, "operations" | "host">,
  filters: OperationFilters,
): Promise<Operation[]> {
  const page = await operations.list(filters, { belowSeq: undefined, limit });
  return page.operations.filter((operation) => operation.host === host);
}
