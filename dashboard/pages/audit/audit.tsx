import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "../../../gen/hostplane/v1/audit_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { useAddressParameter } from "../../parts/address/use-address-parameter.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { actorText } from "../../parts/text/actor-text.ts";
import { auditColumns, auditRow } from "../../resources/columns/audit-columns.tsx";
import { client } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { openPanel } from "../../shell/side-panel.tsx";
import { AuditDetails } from "./audit-details.tsx";

/** As many as the gateway returns at a time: the search and the filters of the table work on them. */
const pageSize = 1000;

const filters: readonly Filter<AuditEvent>[] = [
  { id: "outcome", title: "outcome", valuesOf: ({ outcome }) => [outcome || "not known"] },
  { id: "by", title: "by", valuesOf: ({ actor }) => [actorText(actor)] },
  { id: "rpc", title: "RPC", valuesOf: ({ rpc }) => [rpc] },
];

/** The audit log: every call that changed something, returned a secret, or was denied to its caller. */
export function Audit() {
  const from = useAddressParameter("from");
  const to = useAddressParameter("to");
  const range = {
    ...(from.value === "" ? {} : { from: timestampFromMs(Date.parse(from.value)) }),
    ...(to.value === "" ? {} : { to: timestampFromMs(Date.parse(to.value)) }),
  };
  const key = `${from.value}\n${to.value}`;
  const pages = usePages(key);
  const { reading, reload } = useRead(
    (options) => client.audit.listEvents({ ...range, pageSize, pageToken: pages.token }, options),
    { key: `${key}\n${pages.token}`, topics: ["operations"] },
  );
  return (
    <Page title="Audit" note="newest first">
      <div class="filters">
        <TextField label="From" type="datetime-local" value={from} isInline />
        <TextField label="To" type="datetime-local" value={to} isInline />
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <ReadState of={reading}>
        {({ events, nextPageToken }) => (
          <>
            <DataTable
              {...auditRow}
              caption="Calls"
              columns={auditColumns}
              rows={events}
              filters={filters}
              onOpen={(event) => openPanel(event.rpc, () => <AuditDetails of={event} />)}
              hasTools
              empty="No audited calls in this time."
            />
            <Paging of={pages} nextToken={nextPageToken} what="calls" />
          </>
        )}
      </ReadState>
    </Page>
  );
}
