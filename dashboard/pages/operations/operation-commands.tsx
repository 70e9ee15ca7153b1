import type { OperationCommand } from "../../../gen/hostplane/v1/operation_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Paging, usePages } from "../../parts/paging.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { commandText } from "../../parts/text/command-text.ts";
import { durationText } from "../../parts/text/duration-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";

/** An operation runs a few commands per step. */
const pageSize = 200;

/** The commands that an operation has run on its host, with their results. */
export function OperationCommands({ id }: { readonly id: string }) {
  const pages = usePages(id);
  const { reading } = useRead(
    (options) => client.operations.listCommands({ id, pageSize, pageToken: pages.token }, options),
    { key: `${id} ${pages.token}`, topics: ["operations"], when: ({ operationId }) => operationId === id },
  );
  const commands = reading.value.value?.commands ?? [];
  const all = commands.map(({ command }) => commandText(command)).join("\n");
  return (
    <Panel
      title="Commands"
      note={commands.length}
      tools={commands.length > 1 && <CopyButton text={all} label="Copy all" />}
    >
      <ReadState of={reading}>
        {({ nextPageToken }) => (
          <>
            {commands.length === 0 ? (
              <p class="quiet">
                No commands. Work done through a system's API runs none, and neither does a sandbox.
              </p>
            ) : (
              <ol class="commands">
                {commands.map((command) => (
                  <CommandLine
                    key={`${command.at?.seconds}.${command.at?.nanos} ${command.command.join(" ")}`}
                    of={command}
                  />
                ))}
              </ol>
            )}
            <Paging of={pages} nextToken={nextPageToken} what="commands" />
          </>
        )}
      </ReadState>
    </Panel>
  );
}

function CommandLine({ of }: { readonly of: OperationCommand }) {
  const { command, step, exitCode, signal, durationMs, at, host } = of;
  const text = commandText(command);
  const hasFailed = exitCode !== 0;
  return (
    <li class="command-line">
      <code>{text}</code>
      <CopyButton text={text} />
      <span class="small soft">
        <span class={hasFailed ? "text-err" : undefined}>
          {exitCode === undefined ? signal || "not started" : `exit code ${exitCode}`}
        </span>
        {` after ${durationText(Number(durationMs))}, step ${step}${host === "" ? "" : ` on ${host}`}, `}
        <TimeText at={at} />
      </span>
    </li>
  );
}
