import { signal } from "@preact/signals";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { onEvent } from "./event-stream.ts";

/** More than a page shows, and few enough to be kept for days. */
const keptOperations = 500;

/** Operations as events have told of them last, by id: whoever shows one needs no stream of its own. */
export const toldOperations = signal<ReadonlyMap<string, Operation>>(new Map());

/** Nothing is told of any: what is read from now on is later. */
export function forgetOperations(): void {
  toldOperations.value = new Map();
}

onEvent((event) => {
  if (event === "resumed") {
    forgetOperations();
    return;
  }
  if (event.detail.case !== "operation") {
    return;
  }
  const operation = event.detail.value;
  const operations = new Map(toldOperations.value);
  // Behind the others, so that those which nothing was told of for longest are forgotten first.
  operations.delete(operation.id);
  operations.set(operation.id, operation);
  const [oldest] = operations.keys();
  if (operations.size > keptOperations && oldest !== undefined) {
    operations.delete(oldest);
  }
  toldOperations.value = operations;
});
