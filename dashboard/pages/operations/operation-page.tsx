import { Link } from "wouter-preact";
import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { useOperation } from "../../live/use-operation.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { OperationFacts } from "../../parts/operation-progress.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { hasRole } from "../../session.ts";
import { OperationActions } from "./operation-actions.tsx";
import { OperationCommands } from "./operation-commands.tsx";
import { OperationSteps } from "./operation-steps.tsx";
import { tookText } from "./took-text.ts";

/** One operation in full, live. */
export function OperationPage({ id }: { readonly id: string }) {
  return (
    <>
      <p>
        <Link href="/">All operations</Link>
      </p>
      <h1>Operation</h1>
      <ReadState of={useOperation(id)}>
        {(operation) => (
          <>
            <section class="card" aria-label="State">
              <OperationFacts operation={operation} />
              <OperationActions operation={operation} />
            </section>
            <div class="card">
              <OperationSteps steps={operation.steps} />
            </div>
            {hasRole(Role.OPERATOR) && <OperationCommands id={id} />}
            <Facts operation={operation} />
          </>
        )}
      </ReadState>
    </>
  );
}

function Facts({ operation }: { readonly operation: Operation }) {
  const { id, resource, actor, rpc, host, attempt, createdAt, startedAt, endedAt, result } = operation;
  return (
    <section class="card" aria-labelledby="operation-facts">
      <h2 id="operation-facts">Details</h2>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <code>{id}</code> <CopyButton text={id} label="Copy id" />
        </dd>
        <dt>Resource</dt>
        <dd>
          <code>{resource}</code>
        </dd>
        <dt>Requested by</dt>
        <dd>{actor}</dd>
        <dt>RPC</dt>
        <dd>
          <code>{rpc}</code>
        </dd>
        <dt>Host</dt>
        <dd>{host || "any host"}</dd>
        <dt>Attempts</dt>
        <dd>{attempt}</dd>
        <dt>Requested</dt>
        <dd>
          <TimeText at={createdAt} />
        </dd>
        <dt>Started</dt>
        <dd>{startedAt === undefined ? "not yet" : <TimeText at={startedAt} />}</dd>
        <dt>Ended</dt>
        <dd>
          {endedAt === undefined ? (
            "not yet"
          ) : (
            <>
              <TimeText at={endedAt} /> {startedAt !== undefined && `(took ${tookText(operation)})`}
            </>
          )}
        </dd>
      </dl>
      {result !== undefined && (
        <>
          <h3>Result</h3>
          <pre class="json">{JSON.stringify(result, undefined, 2)}</pre>
        </>
      )}
    </section>
  );
}
