import { Link } from "wouter-preact";
import type { AuditEvent } from "../../../gen/hostplane/v1/audit_pb.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

/** Everything that the audit log has about a call, for the side panel. */
export function AuditDetails({ of: event }: { readonly of: AuditEvent }) {
  const { request, resource, operationId, actor, address, credential, listener, requestId } = event;
  return (
    <div class="scroll">
      <dl class="facts">
        <dt>When</dt>
        <dd>
          <TimeText at={event.at} />
        </dd>
        <dt>By</dt>
        <dd>{actor}</dd>
        <dt>From</dt>
        <dd>{address}</dd>
        <dt>Outcome</dt>
        <dd>
          {event.outcome || "not known"} {event.reason}
        </dd>
        {resource !== "" && (
          <>
            <dt>Resource</dt>
            <dd>{resource}</dd>
          </>
        )}
        {operationId !== "" && (
          <>
            <dt>Operation</dt>
            <dd>
              <Link href={`~/operations/${operationId}`}>open</Link>
            </dd>
          </>
        )}
        <dt>Credential</dt>
        <dd>{credential || "none"}</dd>
        <dt>Listener</dt>
        <dd>{listener}</dd>
        <dt>Request id</dt>
        <dd>
          <code>{requestId}</code>
        </dd>
      </dl>
      {request !== "" && (
        <section class="stack tight">
          <h3>Request</h3>
          <pre class="json">{request}</pre>
        </section>
      )}
    </div>
  );
}
