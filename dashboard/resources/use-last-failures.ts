import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { lastFailures } from "../live/last-failures.ts";
import { latestOperations } from "../live/latest-operations.ts";
import { upToDate } from "../live/operation-order.ts";
import { useRead } from "../live/use-read.ts";
import { client } from "../session.ts";

/**
 * The last operation of a resource, and of each of those below it, if it failed: by resource, live. Empty until it is read; a failed
 * read shows in the tab of operations.
 */
export function useLastFailures(resource: string): ReadonlyMap<string, Operation> {
  const { reading } = useRead(
    async (options) => (await client.operations.listOperations({ resource }, options)).operations,
    { key: resource },
  );
  const isOwn = (operation: Operation) =>
    operation.resource === resource || operation.resource.startsWith(`${resource}/`);
  return lastFailures(upToDate(reading.value.value ?? [], latestOperations.value.values(), isOwn));
}
