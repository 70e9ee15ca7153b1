import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { useRunningOperations } from "../live/use-running-operations.ts";
import { OperationFacts, OperationProgress } from "./operation-progress.tsx";

/** The progress of operations that have just been started, live. */
export function OperationList({ ids }: { readonly ids: readonly string[] }) {
  return (
    <ul class="plain stack">
      {ids.map((id) => (
        <li key={id}>
          <OperationProgress id={id} />
        </li>
      ))}
    </ul>
  );
}

/**
 * The operations of a domain that are in progress or need attention, live; nothing if there are none.
 * @param kinds prefixes of operation kinds, e.g. "volumes" for "volumes.backup"
 */
export function RunningOperations({ kinds }: { readonly kinds: readonly string[] }) {
  const { value } = useRunningOperations().value;
  const shown = value?.filter((operation) => isOneOf(operation, kinds)) ?? [];
  // The operations page shows the error if they could not be read.
  if (shown.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="running-operations">
      <h2 id="running-operations">Running operations</h2>
      <ul class="plain stack">
        {shown.map((operation) => (
          <li key={operation.id}>
            <OperationFacts operation={operation} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function isOneOf({ kind }: Operation, kinds: readonly string[]): boolean {
  return kinds.some((each) => kind.startsWith(`${each}.`));
}
