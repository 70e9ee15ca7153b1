import { useId } from "preact/hooks";
import { Link } from "wouter-preact";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { useRunningOperations } from "../../live/use-running-operations.ts";
import { OperationFacts } from "../../parts/operation-progress.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { Figures } from "./figures.tsx";

/** The operations page shows the others. */
const shownOperations = 2;

/** The operations in progress. */
export function OperationsCard() {
  const id = useId();
  return (
    <section class="card domain" aria-labelledby={id}>
      <h2 id={id}>
        <Link href="/operations">Operations</Link>
      </h2>
      <ReadState of={useRunningOperations()}>
        {(operations) => {
          const attention = operations.filter(({ state }) => state === OperationState.NEEDS_ATTENTION);
          const running = operations.filter((operation) => !attention.includes(operation));
          return (
            <div class="stack">
              <Figures
                of={[
                  { label: "in progress", value: running.length },
                  { label: "need attention", value: attention.length, isBad: attention.length > 0 },
                ]}
              />
              {running.slice(0, shownOperations).map((operation) => (
                <OperationFacts key={operation.id} operation={operation} />
              ))}
            </div>
          );
        }}
      </ReadState>
    </section>
  );
}
