import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { useRunningOperations } from "../../live/use-running-operations.ts";
import { OperationFacts } from "../../parts/operation-progress.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { OperationActions } from "./operation-actions.tsx";

const shownOperations = 20;

/** What needs somebody first, then what runs, then what waits for its turn. */
const urgency: readonly OperationState[] = [
  OperationState.NEEDS_ATTENTION,
  OperationState.UNDOING,
  OperationState.ACTIVE,
  OperationState.SCHEDULED,
];

function byUrgency(one: Operation, other: Operation): number {
  return urgency.indexOf(one.state) - urgency.indexOf(other.state);
}

/** The operations that are under way, and those that wait for somebody, live. */
export function Unsettled() {
  return (
    <section class="card" aria-labelledby="unsettled">
      <h2 id="unsettled">Under way, or in need of attention</h2>
      <ReadState of={useRunningOperations()}>
        {(operations) =>
          operations.length === 0 ? (
            <p class="quiet">Nothing. What takes its time, as a backup or a new hypervisor, is shown here.</p>
          ) : (
            <ul class="plain ruled">
              {operations
                .toSorted(byUrgency)
                .slice(0, shownOperations)
                .map((operation) => (
                  <li key={operation.id}>
                    <OperationFacts operation={operation} />
                    <OperationActions operation={operation} />
                  </li>
                ))}
              {operations.length > shownOperations && (
                <li class="quiet">and {operations.length - shownOperations} more, which the history has</li>
              )}
            </ul>
          )
        }
      </ReadState>
    </section>
  );
}
