import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import {
  cancelLabel,
  isCancellable,
  isRetryable,
  proposeCancel,
  proposeRetry,
} from "../../action/operation-changes.ts";
import { dismissedOperations, dismissOperation } from "../../live/dismissed-operations.ts";
import { resourceAt } from "../../live/inventory.ts";
import { isOpenState } from "../../live/open-state.ts";
import { useOperation } from "../../live/use-operation.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { FailureNotes } from "../../parts/operation/failure-notes.tsx";
import { operationStateText, operationStatus } from "../../parts/operation/operation-state.ts";
import { ProgressLine } from "../../parts/operation/progress-line.tsx";
import { StepLine } from "../../parts/operation/step-line.tsx";
import { tookText } from "../../parts/operation/took-text.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { Status } from "../../parts/status.tsx";
import { actorText } from "../../parts/text/actor-text.ts";
import { operationTitle } from "../../parts/text/operation-title.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { pathOfResource } from "../../resources/kinds.ts";
import { hasRole } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { OperationCommands } from "./operation-commands.tsx";

/** One operation in full, live. */
export function OperationPage({ id }: { readonly id: string }) {
  const operation = useOperation(id);
  const { value } = operation.value;
  return (
    <Page
      title={value === undefined ? id : operationTitle(value)}
      parents={[{ title: "Operations", path: "/operations" }]}
    >
      <ReadState of={operation}>
        {(found) => (
          <>
            <Head operation={found} />
            {isOpenState(found.state) && <ProgressLine operation={found} />}
            {isOpenState(found.state) && found.message !== "" && <p class="soft">{found.message}</p>}
            <FailureNotes operation={found} />
            <Steps operation={found} />
            {hasRole(Role.OPERATOR) && <OperationCommands id={id} />}
            <Facts operation={found} />
          </>
        )}
      </ReadState>
    </Page>
  );
}

function Head({ operation }: { readonly operation: Operation }) {
  const { id, state, cancelRequested, endedAt } = operation;
  const endedMs = endedAt === undefined ? 0 : timestampMs(endedAt);
  const isDismissible = state === OperationState.FAILED && (dismissedOperations.value.get(id) ?? 0) < endedMs;
  return (
    <div class="resource-head">
      <Status kind={operationStatus(state)} text={operationStateText(state)} />
      <h1>{operationTitle(operation)}</h1>
      <span class="quiet">
        {operationStateText(state)}
        {cancelRequested && isOpenState(state) && ", cancellation requested"}
      </span>
      <div class="row">
        {isRetryable(operation) && (
          <button type="button" onClick={() => proposeRetry(operation)}>
            Retry…
          </button>
        )}
        {isCancellable(operation) && (
          <button type="button" onClick={() => proposeCancel(operation)}>
            {cancelLabel(operation)}
          </button>
        )}
        {isDismissible && (
          <button
            type="button"
            class="bare"
            title="Hides it on the overview and in the tray"
            onClick={() => dismissOperation(operation)}
          >
            Dismiss
          </button>
        )}
      </div>
    </div>
  );
}

function Steps({ operation: { steps, error } }: { readonly operation: Operation }) {
  return (
    <Panel title="Steps" note={steps.length}>
      {steps.length === 0 ? (
        <p class="quiet">No steps.</p>
      ) : (
        <ol class="steps">
          {steps.map((step) => (
            <StepLine key={step.name} step={step} shownError={error?.message} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Facts({ operation }: { readonly operation: Operation }) {
  const { id, resource, fleetHost, actor, rpc, host, attempt, createdAt, startedAt, endedAt, result } =
    operation;
  return (
    <>
      <Panel title="Details">
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            <code>{id}</code> <CopyButton text={id} label="Copy id" />
          </dd>
          <dt>Resource</dt>
          <dd>
            <ResourceName host={fleetHost} name={resource} />
          </dd>
          <dt>Started by</dt>
          <dd>{actorText(actor)}</dd>
          <dt>RPC</dt>
          <dd>
            <code>{rpc}</code>
          </dd>
          <dt>Host</dt>
          <dd>{fleetHost || host || "any host"}</dd>
          <dt>Attempts</dt>
          <dd>{attempt}</dd>
          <dt>Requested</dt>
          <dd>
            <TimeText at={createdAt} />
          </dd>
          <dt>Started</dt>
          <dd>{startedAt === undefined ? "—" : <TimeText at={startedAt} />}</dd>
          <dt>Ended</dt>
          <dd>
            {endedAt === undefined ? (
              "—"
            ) : (
              <>
                <TimeText at={endedAt} />
                {startedAt !== undefined && `, took ${tookText(operation)}`}
              </>
            )}
          </dd>
        </dl>
      </Panel>
      {result !== undefined && (
        <Panel title="Result">
          <pre class="json">{JSON.stringify(result, undefined, 2)}</pre>
        </Panel>
      )}
    </>
  );
}

/** The resource, as a link while it exists and has a page. */
function ResourceName({ host, name }: { readonly host: string; readonly name: string }) {
  const path = pathOfResource(resourceAt(host, name));
  const text = <code>{name}</code>;
  return path === undefined ? text : <Link href={`~${path}`}>{text}</Link>;
}
