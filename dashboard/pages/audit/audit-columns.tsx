import { Link } from "wouter-preact";
import type { AuditEvent } from "../../../gen/hostplane/v1/audit_pb.ts";
import { Badge } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";

/** Columns of a table of calls. */
export const auditColumns: readonly Column<AuditEvent>[] = [
  { title: "When", cell: ({ at }) => <TimeText at={at} /> },
  {
    title: "By",
    cell: ({ actor, address }) => (
      <>
        {actor}
        <div class="quiet">{address}</div>
      </>
    ),
  },
  {
    title: "RPC",
    cell: ({ rpc, resource, operationId }) => (
      <>
        <code>{rpc}</code>
        <div class="quiet">
          {resource}
          {operationId !== "" && (
            <>
              {" "}
              <Link href={`~/operations/${operationId}`}>operation</Link>
            </>
          )}
        </div>
      </>
    ),
  },
  { title: "Outcome", cell: (event) => <Outcome of={event} /> },
  {
    title: "Request",
    cell: ({ request, credential, listener, requestId }) => (
      <details>
        <summary>Details</summary>
        {request !== "" && <pre class="json">{request}</pre>}
        <dl class="facts">
          <dt>Credential</dt>
          <dd>{credential || "none"}</dd>
          <dt>Listener</dt>
          <dd>{listener}</dd>
          <dt>Request id</dt>
          <dd>
            <code>{requestId}</code>
          </dd>
        </dl>
      </details>
    ),
  },
];

function Outcome({ of: { outcome, reason, count } }: { readonly of: AuditEvent }) {
  if (outcome === "") {
    return <Badge tone="off">not known</Badge>;
  }
  return (
    <>
      <Badge tone={outcome === "OK" ? "ok" : "bad"}>{outcome}</Badge>
      {reason !== "" && <div class="quiet">{reason}</div>}
      {count > 1 && <div class="quiet">{count} times</div>}
    </>
  );
}
