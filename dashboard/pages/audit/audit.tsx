import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useRead } from "../../live/use-read.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { useAddressParameter } from "../../parts/use-address-parameter.ts";
import { client } from "../../session.ts";
import { auditColumns } from "./audit-columns.tsx";

const pageSize = 50;

const outcomes = [
  "OK",
  "UNKNOWN_OUTCOME",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
  "UNAVAILABLE",
  "UNIMPLEMENTED",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "INTERNAL",
];
const outcomeOptions = [
  { value: "", text: "any" },
  ...outcomes.map((outcome) => ({
    value: outcome,
    text: outcome === "UNKNOWN_OUTCOME" ? "not known" : outcome,
  })),
];

/** The audit log: every call that changed something, returned a secret, or was denied to its caller. */
export function Audit() {
  const from = useAddressParameter("from");
  const to = useAddressParameter("to");
  const actor = useAddressParameter("actor");
  const rpc = useAddressParameter("rpc");
  const resource = useAddressParameter("resource");
  const outcome = useAddressParameter("outcome");
  const filters = {
    actor: actor.value.trim(),
    rpc: rpc.value.trim(),
    resource: resource.value.trim(),
    outcome: outcome.value,
    ...(from.value === "" ? {} : { from: timestampFromMs(Date.parse(from.value)) }),
    ...(to.value === "" ? {} : { to: timestampFromMs(Date.parse(to.value)) }),
  };
  const key = [from, to, actor, rpc, resource, outcome].map(({ value }) => value.trim()).join("\n");
  const pages = usePages(key);
  const { reading, reload } = useRead(
    (options) => client.audit.listEvents({ ...filters, pageSize, pageToken: pages.token }, options),
    { key: `${key}\n${pages.token}` },
  );
  return (
    <>
      <div class="heading">
        <h1>Audit</h1>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <div class="filters">
        <TextField label="From" type="datetime-local" value={from} />
        <TextField label="To" type="datetime-local" value={to} />
        <TextField label="By" type="search" value={actor} hint="For example user/alice or token/ci." />
        <TextField label="RPC" type="search" value={rpc} hint="For example proto.LVService." />
        <TextField label="Resource" type="search" value={resource} hint="Includes the resources below it." />
        <SelectField label="Outcome" value={outcome} options={outcomeOptions} />
      </div>
      <div class="card">
        <ReadState of={reading}>
          {({ events, nextPageToken }) => (
            <>
              <DataTable
                caption="Calls"
                columns={auditColumns}
                rows={events}
                keyOf={({ sequence }) => String(sequence)}
                empty="No matching calls."
              />
              <Paging of={pages} nextToken={nextPageToken} what="calls" />
            </>
          )}
        </ReadState>
      </div>
    </>
  );
}
