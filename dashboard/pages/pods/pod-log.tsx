import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Pod } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { StatusText } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { hasRole } from "../../session.ts";
import { type LogBuffer, logText, matchingLines, maxLines } from "./log-buffer.ts";
import { LogView } from "./log-view.tsx";
import { podIdOf } from "./pod-text.tsx";
import { type LogState, useLog } from "./use-log.ts";
import { usePod } from "./use-pod.ts";

/** The live output of a pod's containers, for operators. */
export function PodLog({ resource }: { readonly resource: Resource }) {
  return hasRole(Role.OPERATOR) ? (
    <ReadablePodLog podId={podIdOf(resource)} />
  ) : (
    <p class="quiet">Only operators can see the log, because programs may print secrets.</p>
  );
}

function ReadablePodLog({ podId }: { readonly podId: string }) {
  const pod = usePod(podId);
  return (
    <ReadState of={pod}>
      {(found) =>
        found === null ? (
          <p class="quiet">Podman cannot read this pod now.</p>
        ) : (
          <ContainerLog key={podId} pod={found} />
        )
      }
    </ReadState>
  );
}

/** The log of all containers, or of one. */
function ContainerLog({ pod: { id, name, containers } }: { readonly pod: Pod }) {
  const appName = useSignal(containers.length === 1 ? (containers[0]?.name ?? "") : "");
  return (
    <FollowedLog
      key={appName.value}
      podId={id}
      appName={appName.value}
      fileName={`${[name, appName.value].filter((part) => part !== "").join("-")}.log`}
    >
      <SelectField
        label="Container"
        value={appName}
        options={[
          { value: "", text: "all containers" },
          ...containers.map(({ name: container }) => ({ value: container, text: container })),
        ]}
      />
    </FollowedLog>
  );
}

/** The log of a container. It can be paused; lines printed meanwhile are shown afterwards. */
function FollowedLog(props: {
  readonly podId: string;
  readonly appName: string;
  readonly fileName: string;
  /** Other controls of the log. */
  readonly children: ComponentChildren;
}) {
  const { log, state } = useLog(props.podId, props.appName);
  const held = useSignal<LogBuffer | undefined>(undefined);
  const words = useSignal("");
  const kept = held.value ?? log.value;
  const shown = matchingLines(kept, words.value);
  const isHeld = held.value !== undefined;
  return (
    <>
      <div class="log-controls">
        {props.children}
        <TextField label="Filter" type="search" value={words} />
        <button
          type="button"
          onClick={() => {
            held.value = isHeld ? undefined : log.value;
          }}
        >
          {isHeld ? "Resume" : "Pause"}
        </button>
        <button
          type="button"
          disabled={shown.lineCount === 0}
          onClick={() => saveFile(props.fileName, logText(shown))}
        >
          <Icon name="down" /> Download
        </button>
        <LogStateText of={state.value} />
        {isHeld && <span>Paused, {linesText(log.value.everCount - kept.everCount)} since</span>}
      </div>
      {state.value.state === "failed" && <ErrorNote error={state.value.error} />}
      <LogView of={shown} empty={kept.lineCount === 0 ? "No output yet." : "No line matches."} />
      <p class="quiet">
        Times are in UTC.{" "}
        {shown.lineCount < kept.lineCount &&
          `${shown.lineCount.toLocaleString("en")} of ${kept.lineCount.toLocaleString("en")} lines match. `}
        {kept.everCount > kept.lineCount &&
          `The newest ${maxLines.toLocaleString("en")} lines are kept here.`}
      </p>
    </>
  );
}

function linesText(count: number): string {
  return count === 1 ? "1 new line" : `${count} new lines`;
}

function LogStateText({ of: state }: { readonly of: LogState }) {
  return (
    <span role="status" class="row">
      {state.state === "connecting" && <StatusText kind="running">connecting</StatusText>}
      {state.state === "live" && <StatusText kind="ok">live</StatusText>}
      {state.state === "live" && state.resumedAtMs !== undefined && (
        <span class="quiet">
          Reconnected <TimeText atMs={state.resumedAtMs} />: no lines were lost.
        </span>
      )}
      {state.state === "ended" && <StatusText kind="off">ended: the pod was removed</StatusText>}
      {state.state === "failed" && <StatusText kind="failed">failed</StatusText>}
      {state.state === "lost" && (
        <>
          <StatusText kind="warn">connection lost</StatusText>
          <span class="quiet">Retrying; the log continues where it stopped.</span>
        </>
      )}
    </span>
  );
}
