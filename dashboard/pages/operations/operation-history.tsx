import { useComputed } from "@preact/signals";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { latestOperations } from "../../live/latest-operations.ts";
import { isOpenState } from "../../live/open-state.ts";
import { laterOf } from "../../live/operation-order.ts";
import { useRead } from "../../live/use-read.ts";
import { operationColumns, operationRow } from "../../parts/operation-columns.tsx";
import { operationStateText } from "../../parts/operation-state.ts";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { client } from "../../session.ts";
import { tookText } from "./took-text.ts";

/** As many as the gateway returns at a time: the search and the filters work on them. */
const pageSize = 1000;

const columns: readonly Column<Operation>[] = [
  ...operationColumns,
  { id: "took", title: "Took", width: "short", isNumber: true, cell: (operation) => tookText(operation) },
];

const filters: readonly Filter<Operation>[] = [
  { id: "state", title: "state", valuesOf: ({ state }) => [operationStateText(state)] },
  { id: "kind", title: "kind", valuesOf: ({ kind }) => [kind] },
  { id: "by", title: "started by", valuesOf: ({ actor }) => [actor.replace(/^user\//, "")] },
];

/** All operations, newest first, a page at a time. */
export function OperationHistory() {
  const pages = usePages("");
  const { reading } = useRead(
    (options) => client.operations.listOperations({ pageSize, pageToken: pages.token }, options),
    { key: pages.token, topics: ["operations"], when: isBeginningOrEnd },
  );
  const shown = useComputed(() => {
    const { value, error } = reading.value;
    return { error, value: value && { ...value, operations: value.operations.map(latest) } };
  });
  return (
    <ReadState of={shown}>
      {({ operations, nextPageToken }) => (
        <>
          <DataTable
            {...operationRow}
            caption="History"
            columns={columns}
            rows={operations}
            filters={filters}
            hasTools
            empty={
              <>
                <strong>No operations yet</strong>
                <span>Every change is an operation. Create a volume to see one.</span>
              </>
            }
          />
          <Paging of={pages} nextToken={nextPageToken} what="operations" />
        </>
      )}
    </ReadState>
  );
}

function isBeginningOrEnd({ detail }: Event): boolean {
  return (
    detail.case === "operation" &&
    (detail.value.state === OperationState.SCHEDULED || !isOpenState(detail.value.state))
  );
}

function latest(operation: Operation): Operation {
  const fromEvent = latestOperations.value.get(operation.id);
  return fromEvent === undefined ? operation : laterOf(fromEvent, operation);
}
