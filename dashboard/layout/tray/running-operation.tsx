import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { cancelLabel, isCancellable, proposeCancel } from "../../action/operation-changes.ts";
import { useRead } from "../../live/use-read.ts";
import { operationStateText, operationStatus } from "../../parts/operation/operation-state.ts";
import { ProgressLine } from "../../parts/operation/progress-line.tsx";
import { StepLine } from "../../parts/operation/step-line.tsx";
import { stepSummary, tookTogetherMs } from "../../parts/operation/step-summary.ts";
import { Status } from "../../parts/status.tsx";
import { commandText } from "../../parts/text/command-text.ts";
import { durationText } from "../../parts/text/duration-text.ts";
import { operationTitle } from "../../parts/text/operation-title.ts";
import { client } from "../../session.ts";
import { TrayTitle } from "./tray-title.tsx";

/** Commands of the running step that are shown: the last ones. */
const shownCommands = 3;

/** An operation that is queued or running: its progress, its steps, and the commands of the step that runs. */
export function RunningOperation({ operation }: { readonly operation: Operation }) {
  const { done, current, waiting } = stepSummary(operation);
  const tookMs = tookTogetherMs(done);
  return (
    <>
      <div class="row between">
        <TrayTitle operation={operation} />
        {isCancellable(operation) && (
          <button type="button" class="bare small" onClick={() => proposeCancel(operation)}>
            {cancelLabel(operation)}
          </button>
        )}
      </div>
      <ProgressLine operation={operation} />
      <ul class="steps">
        {done.length > 0 && (
          <li class="step">
            <Status kind="ok" text="done" />
            <span class="soft one-line">
              {count(done.length, "step")} done: {namesOf(done)}
            </span>
            <span class="quiet keep">{tookMs === undefined ? "" : durationText(tookMs)}</span>
          </li>
        )}
        {current !== undefined && (
          <>
            <StepLine step={current} />
            <StepCommands id={operation.id} step={current.name} />
          </>
        )}
        {waiting.length > 0 && (
          <li class="step">
            <Status kind="off" text="queued" />
            <span class="soft one-line">
              {count(waiting.length, "more step")}: {namesOf(waiting)}
            </span>
            <span class="quiet">queued</span>
          </li>
        )}
      </ul>
    </>
  );
}

/** The last commands of a step, as they are run. */
function StepCommands({ id, step }: { readonly id: string; readonly step: string }) {
  const { reading } = useRead(
    async (options) => (await client.operations.listCommands({ id, pageSize: 1000 }, options)).commands,
    { key: id, topics: ["operations"], when: ({ operationId }) => operationId === id },
  );
  const own = reading.value.value?.filter(
    (command) => command.step === step || command.step === `undo ${step}`,
  );
  const shown = own?.slice(-shownCommands) ?? [];
  return shown.length === 0 ? null : (
    <li>
      <ol class="commands">
        {shown.map(({ at, command, exitCode }) => (
          <li key={`${at?.seconds}.${at?.nanos} ${command.join(" ")}`}>
            <code>$ {commandText(command)}</code>
            {exitCode !== undefined && exitCode !== 0 && (
              <span class="text-err small">exit code {exitCode}</span>
            )}
          </li>
        ))}
      </ol>
    </li>
  );
}

/** An operation in one line; the user opens it to see its steps. */
export function OperationLine(props: { readonly operation: Operation; readonly onOpen: () => void }) {
  const { operation, onOpen } = props;
  const { state, progress } = operation;
  return (
    <button type="button" class="bare tray-line" aria-expanded={false} onClick={onOpen}>
      <Status kind={operationStatus(state)} text={operationStateText(state)} />
      <strong>{operationTitle(operation)}</strong>
      <span class="quiet">
        {progress === undefined ? operationStateText(state) : `${Math.round(progress * 100)} %`}
      </span>
    </button>
  );
}

function namesOf(steps: readonly { readonly name: string }[]): string {
  return steps.map(({ name }) => name).join(", ");
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
