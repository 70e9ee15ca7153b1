import { useComputed } from "@preact/signals";
import { Link } from "wouter-preact";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { latestOperations } from "../../live/latest-operations.ts";
import { isOpenState } from "../../live/open-state.ts";
import { laterOf } from "../../live/operation-order.ts";
import { useRead } from "../../live/use-read.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { operationStateText, operationTone } from "../../parts/operation-state.ts";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { useAddressParameter } from "../../parts/use-address-parameter.ts";
import { client } from "../../session.ts";
import { tookText } from "./took-text.ts";

const pageSize = 25;

const states = [
  OperationState.SCHEDULED,
  OperationState.ACTIVE,
  OperationState.UNDOING,
  OperationState.COMPLETED,
  OperationState.FAILED,
  OperationState.CANCELLED,
  OperationState.NEEDS_ATTENTION,
];
const stateOptions = [
  { value: "", text: "any" },
  ...states.map((state) => ({ value: String(state), text: operationStateText(state) })),
];

const columns: readonly Column<Operation>[] = [
  { title: "Operation", cell: ({ id, kind }) => <Link href={`/${id}`}>{kind}</Link> },
  {
    title: "State",
    cell: ({ state }) => <Badge tone={operationTone(state)}>{operationStateText(state)}</Badge>,
  },
  { title: "Resource", cell: ({ resource }) => <code>{resource}</code> },
  { title: "By", cell: ({ actor }) => actor },
  { title: "Requested", cell: ({ createdAt }) => <TimeText at={createdAt} /> },
  { title: "Took", cell: (operation) => tookText(operation), isNumber: true },
];

/** All operations, newest first, a page at a time. */
export function OperationHistory() {
  const state = useAddressParameter("state");
  const kind = useAddressParameter("kind");
  const actor = useAddressParameter("actor");
  const filters = [state.value, kind.value.trim(), actor.value.trim()].join("\n");
  const pages = usePages(filters);
  const { reading } = useRead(
    (options) =>
      client.operations.listOperations(
        {
          pageSize,
          pageToken: pages.token,
          states: states.filter((each) => String(each) === state.value),
          kind: kind.value.trim(),
          actor: actor.value.trim(),
        },
        options,
      ),
    { key: `${filters}\n${pages.token}`, topics: ["operations"], when: isBeginningOrEnd },
  );
  const shown = useComputed(() => {
    const { value, error } = reading.value;
    return { error, value: value && { ...value, operations: value.operations.map(latest) } };
  });
  return (
    <section class="card" aria-label="History">
      <div class="filters">
        <SelectField label="State" value={state} options={stateOptions} />
        <TextField label="Kind" type="search" value={kind} hint="For example volumes or volumes.backup." />
        <TextField label="By" type="search" value={actor} hint="For example user/alice." />
      </div>
      <ReadState of={shown}>
        {({ operations, nextPageToken }) => (
          <>
            <DataTable
              caption="History"
              columns={columns}
              rows={operations}
              keyOf={({ id }) => id}
              empty={
                filters.trim() === ""
                  ? "No operations yet. Create a hypervisor or back up a volume to see one."
                  : "No matching operations."
              }
            />
            <Paging of={pages} nextToken={nextPageToken} what="operations" />
          </>
        )}
      </ReadState>
    </section>
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
