import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { latestOperations } from "../../live/latest-operations.ts";
import { upToDate } from "../../live/operation-order.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { client } from "../../session.ts";
import { operationColumns, operationRow } from "../columns/operation-columns.tsx";

/** The operations of a resource and of those below it, newest first, live. */
export function ResourceOperations({ resource: { name } }: { readonly resource: Resource }) {
  const { reading } = useRead(
    async (options) => (await client.operations.listOperations({ resource: name }, options)).operations,
    { key: name },
  );
  const isOwn = (operation: Operation) =>
    operation.resource === name || operation.resource.startsWith(`${name}/`);
  return (
    <ReadState of={reading}>
      {(operations) => (
        <DataTable
          {...operationRow}
          name="operations"
          caption="Operations"
          columns={operationColumns}
          rows={upToDate(operations, latestOperations.value.values(), isOwn)}
          empty="No operation has changed it."
        />
      )}
    </ReadState>
  );
}
