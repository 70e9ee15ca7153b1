import { useRunningOperations } from "../../live/use-running-operations.ts";
import { OperationFacts } from "../../parts/operation-progress.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { OperationActions } from "./operation-actions.tsx";

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
              {operations.map((operation) => (
                <li key={operation.id}>
                  <OperationFacts operation={operation} />
                  <OperationActions operation={operation} />
                </li>
              ))}
            </ul>
          )
        }
      </ReadState>
    </section>
  );
}
