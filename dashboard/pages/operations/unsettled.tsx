import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { useRunningOperations } from "../../live/use-running-operations.ts";
import { OperationFacts } from "../../parts/operation-progress.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { OperationActions } from "./operation-actions.tsx";

/** Number of waiting operations to show; the history has all of them. */
const shownWaiting = 20;

/** The operations that are running, need attention or are queued, live. */
export function Unsettled() {
  return (
    <section class="card" aria-labelledby="unsettled">
      <h2 id="unsettled">In progress or needing attention</h2>
      <ReadState of={useRunningOperations()}>
        {(operations) => {
          const waiting = operations.filter(({ state }) => state === OperationState.SCHEDULED);
          const others = operations.filter(({ state }) => state !== OperationState.SCHEDULED);
          return (
            <>
              {operations.length === 0 && (
                <p class="quiet">
                  None. Long-running work, such as backups and new hypervisors, is shown here.
                </p>
              )}
              <List of={others} />
              {waiting.length > 0 && <h3>Queued: {waiting.length}</h3>}
              <List of={waiting.slice(0, shownWaiting)} />
            </>
          );
        }}
      </ReadState>
    </section>
  );
}

/** The order is stable, so that buttons do not move while the user clicks one. */
function List({ of: operations }: { readonly of: readonly Operation[] }) {
  if (operations.length === 0) {
    return null;
  }
  return (
    <ul class="plain ruled">
      {operations.map((operation) => (
        <li key={operation.id}>
          <OperationFacts operation={operation} />
          <OperationActions operation={operation} />
        </li>
      ))}
    </ul>
  );
}
