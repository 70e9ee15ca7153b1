import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { failedOperations, unsettledOperations } from "../../live/current-operations.ts";
import { nowMs } from "../../live/now.ts";
import { isOpenState } from "../../live/open-state.ts";
import { operationStateText, operationStatus } from "../../parts/operation/operation-state.ts";
import { stepText } from "../../parts/operation/step-summary.ts";
import { roughDurationText, timeLeftMs } from "../../parts/operation/time-left.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { Status } from "../../parts/status.tsx";
import { operationTitle } from "../../parts/text/operation-title.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

const shownOperations = 8;
const barPx = 72;

/** The operations that failed, run or are queued. */
export function OperationsPanel() {
  const unsettled = unsettledOperations.value.value ?? [];
  const all = [
    ...unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION),
    ...failedOperations.value,
    ...unsettled.filter(({ state }) => isOpenState(state) && state !== OperationState.SCHEDULED),
    ...unsettled.filter(({ state }) => state === OperationState.SCHEDULED),
  ];
  return (
    <Panel
      title="Operations"
      note={all.length}
      tools={
        <Link href="~/operations" class="small">
          All operations
        </Link>
      }
      isFlush
    >
      <ReadState of={unsettledOperations}>
        {() => (
          <>
            {all.length === 0 && <p class="inside quiet">None is running, and none has failed.</p>}
            <ul class="lines">
              {all.slice(0, shownOperations).map((operation) => (
                <OperationLine key={operation.id} operation={operation} />
              ))}
              {all.length > shownOperations && <li class="quiet">{all.length - shownOperations} more</li>}
            </ul>
          </>
        )}
      </ReadState>
    </Panel>
  );
}

function OperationLine({ operation }: { readonly operation: Operation }) {
  const { id, state, progress, startedAt, endedAt } = operation;
  const isRunning = isOpenState(state) && state !== OperationState.SCHEDULED;
  const leftMs = timeLeftMs(operation, nowMs.value);
  return (
    <li>
      <Status kind={operationStatus(state)} text={operationStateText(state)} />
      <span class="grow title one-line">
        <Link href={`~/operations/${id}`}>{operationTitle(operation)}</Link>{" "}
        <span class="quiet">{isRunning && stepText({ ...operation, progress: undefined })}</span>
      </span>
      {isRunning && progress !== undefined ? (
        <svg
          class="bar"
          width={barPx}
          height="6"
          role="img"
          aria-label={`Progress of ${operationTitle(operation)}`}
        >
          <rect width={barPx} height="6" rx="3" />
          <rect width={Math.min(1, progress) * barPx} height="6" rx="3" />
        </svg>
      ) : (
        <span class={state === OperationState.SCHEDULED || isRunning ? "soft" : "text-err"}>
          {operationStateText(state)}
        </span>
      )}
      <span class="soft figure">
        {isRunning ? (
          `${progress === undefined ? "—" : `${Math.round(progress * 100)} %`}${leftMs === undefined ? "" : `, ${roughDurationText(leftMs)} left`}`
        ) : state === OperationState.SCHEDULED ? (
          operation.waitingFor || "—"
        ) : (
          <TimeText at={endedAt ?? startedAt} />
        )}
      </span>
    </li>
  );
}
