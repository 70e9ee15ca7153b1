import { useComputed } from "@preact/signals";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { isCancellable, isRetryable, proposeCancel, proposeRetry } from "../../action/operation-changes.ts";
import { unsettledOperations } from "../../live/current-operations.ts";
import { latestOperations } from "../../live/latest-operations.ts";
import { isOpenState } from "../../live/open-state.ts";
import { upToDate } from "../../live/operation-order.ts";
import { useRead } from "../../live/use-read.ts";
import { Note } from "../../parts/note.tsx";
import { operationStateText } from "../../parts/operation/operation-state.ts";
import { tookText } from "../../parts/operation/took-text.ts";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { actorText } from "../../parts/text/actor-text.ts";
import { operationColumns, operationRow } from "../../resources/columns/operation-columns.tsx";
import { withHostColumn } from "../../resources/columns/with-host-column.tsx";
import { client, hasRole } from "../../session.ts";
import { Page } from "../../shell/page.tsx";

/** As many as the gateway returns at a time: the search and the filters work on them. */
const pageSize = 1000;

const columns: readonly Column<Operation>[] = [
  ...operationColumns,
  {
    id: "took",
    title: "Took",
    width: "figure",
    rank: 2,
    isNumber: true,
    cell: (operation) => tookText(operation),
  },
];

const filters: readonly Filter<Operation>[] = [
  { id: "state", title: "state", valuesOf: ({ state }) => [operationStateText(state)] },
  { id: "host", title: "host", valuesOf: ({ fleetHost }) => (fleetHost === "" ? [] : [fleetHost]) },
  { id: "kind", title: "kind", valuesOf: ({ kind }) => [kind] },
  { id: "by", title: "started by", valuesOf: ({ actor }) => [actorText(actor)] },
];

/** All operations, newest first, a page at a time. */
export function OperationHistory() {
  const pages = usePages("");
  const { reading } = useRead(
    async (options) => {
      const page = await client.operations.listOperations({ pageSize, pageToken: pages.token }, options);
      return { ...page, isFirst: pages.isFirst };
    },
    { key: pages.token, topics: ["operations"], when: isBeginningOrEnd },
  );
  const shown = useComputed(() => {
    const { value, error } = reading.value;
    return { error, value: value && { ...value, operations: liveOperations(value) } };
  });
  const shownColumns = withHostColumn(columns, ({ fleetHost }) => fleetHost);
  return (
    <Page title="Operations" note={noteOf(unsettledOperations.value.value ?? [])}>
      <ReadState of={shown}>
        {({ operations, nextPageToken, missingHosts }) => (
          <>
            {missingHosts.length > 0 && (
              <Note tone="warn" role="status">
                <ul>
                  {missingHosts.map(({ host, message }) => (
                    <li key={host}>
                      <strong>Operations of {host} are missing:</strong> {message}
                    </li>
                  ))}
                </ul>
              </Note>
            )}
            <DataTable
              {...operationRow}
              caption="Operations"
              columns={shownColumns}
              rows={operations}
              filters={filters}
              actions={hasRole(Role.OPERATOR) ? operationActions : []}
              hasTools
              empty={
                <>
                  <strong>No operations yet</strong>
                  <span>Long-running changes are operations. Back up a volume to see one.</span>
                </>
              }
            />
            <Paging of={pages} nextToken={nextPageToken} what="operations" />
          </>
        )}
      </ReadState>
    </Page>
  );
}

const operationActions: readonly RowAction<Operation>[] = [
  { text: "Retry…", icon: "restore", key: "r", appliesTo: isRetryable, run: proposeRetry },
  {
    text: "Cancel…",
    icon: "stop",
    key: "delete",
    isDestructive: true,
    appliesTo: isCancellable,
    run: proposeCancel,
  },
];

function noteOf(unsettled: readonly Operation[]): string {
  const attention = unsettled.filter(({ state }) => state === OperationState.NEEDS_ATTENTION).length;
  const running = unsettled.length - attention;
  return `${running} in progress${attention === 0 ? "" : `, ${attention} ${attention === 1 ? "needs" : "need"} attention`}`;
}

function isBeginningOrEnd({ detail }: Event): boolean {
  return (
    detail.case === "operation" &&
    (detail.value.state === OperationState.SCHEDULED || !isOpenState(detail.value.state))
  );
}

/** Updates a page of operations from events; new ones are on the first page. */
function liveOperations(page: { readonly operations: readonly Operation[]; readonly isFirst: boolean }) {
  const listed = new Set(page.operations.map(({ id }) => id));
  return upToDate(
    page.operations,
    latestOperations.value.values(),
    ({ id }) => page.isFirst || listed.has(id),
  );
}
