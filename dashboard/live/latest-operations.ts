import { signal } from "@preact/signals";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { onEvent } from "./event-stream.ts";

/** More than a page shows, and few enough to keep for days. */
const keptOperations = 500;

/** The latest state of operations from events, by id. Components that show one need no stream of their own. */
export const latestOperations = signal<ReadonlyMap<string, Operation>>(new Map());

/** Forgets all of them: whatever is read from now on is newer. */
export function forgetOperations(): void {
  latestOperations.value = new Map();
}

onEvent((event) => {
  if (event === "resumed") {
    forgetOperations();
    return;
  }
  if (event.detail.case !== "operation") {
    return;
  }
  const operation = { ...event.detail.value, fleetHost: event.fleetHost };
  const operations = new Map(latestOperations.value);
  // Moves it to the end, so that the operations without news for longest are dropped first.
  operations.delete(operation.id);
  operations.set(operation.id, operation);
  const [oldest] = operations.keys();
  if (operations.size > keptOperations && oldest !== undefined) {
    operations.delete(oldest);
  }
  latestOperations.value = operations;
});
