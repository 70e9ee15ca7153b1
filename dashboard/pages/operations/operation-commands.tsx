import type { OperationCommand } from "../../../gen/hostplane/v1/operation_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Paging, usePages } from "../../parts/paging.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { commandText } from "../../parts/text/command-text.ts";
import { durationText } from "../../parts/text/duration-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";

/** An operation runs a few commands per step. */
const pageSize = 200;

const columns: readonly Column<OperationCommand>[] = [
  {
    title: "Command",
    cell: ({ command }) => {
      const text = commandText(command);
      return (
        <div class="command">
          <code>{text}</code>
          <CopyButton text={text} />
        </div>
      );
    },
  },
  { title: "Step", cell: ({ step }) => step },
  {
    title: "Exit code",
    cell: ({ exitCode, signal }) => exitCode ?? (signal || "not started"),
    isNumber: true,
  },
  { title: "Took", cell: ({ durationMs }) => durationText(Number(durationMs)), isNumber: true },
  { title: "Started", cell: ({ at }) => <TimeText at={at} /> },
  { title: "Host", cell: ({ host }) => host },
];

/** The commands that an operation has run, or is running, on its host. */
export function OperationCommands({ id }: { readonly id: string }) {
  const pages = usePages(id);
  const { reading } = useRead(
    (options) => client.operations.listCommands({ id, pageSize, pageToken: pages.token }, options),
    { key: `${id} ${pages.token}`, topics: ["operations"], when: ({ operationId }) => operationId === id },
  );
  return (
    <div class="card">
      <ReadState of={reading}>
        {({ commands, nextPageToken }) => (
          <>
            <DataTable
              caption="Commands"
              columns={columns}
              rows={commands}
              keyOf={(command) => `${command.at?.seconds}.${command.at?.nanos} ${command.command.join(" ")}`}
              empty="No commands. Work done through a system's API runs none, and neither does a sandbox."
            />
            <Paging of={pages} nextToken={nextPageToken} what="commands" />
          </>
        )}
      </ReadState>
    </div>
  );
}
