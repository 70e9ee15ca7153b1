import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";
import { useRunningOperations } from "../live/use-running-operations.ts";
import { OperationFacts, OperationProgress } from "./operation-progress.tsx";

/** How far operations are that have just been begun, live. */
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
 * The operations of a domain that are under way or wait for somebody, live; nothing while there are none.
 * @param kinds beginnings of their kinds, as "volumes" of "volumes.backup"
 */
export function RunningOperations({ kinds }: { readonly kinds: readonly string[] }) {
  const { value } = useRunningOperations().value;
  const shown = value?.filter((operation) => isOneOf(operation, kinds)) ?? [];
  // That they could not be read is told by the page of operations.
  if (shown.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="running-operations">
      <h2 id="running-operations">Operations under way</h2>
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
