import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Pod } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Badge } from "../../parts/badge.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { type LogBuffer, maxLines } from "./log-buffer.ts";
import { LogView } from "./log-view.tsx";
import { type LogState, useLog } from "./use-log.ts";
import "./pods.css";

/** The live output of a pod's apps: of all of them, or of one. */
export function PodLog({ pod: { id, containers } }: { readonly pod: Pod }) {
  const appName = useSignal(containers.length === 1 ? (containers[0]?.name ?? "") : "");
  return (
    <section class="card stack" aria-labelledby="pod-log">
      <h2 id="pod-log">Log</h2>
      <FollowedLog key={appName.value} podId={id} appName={appName.value}>
        <SelectField
          label="App"
          value={appName}
          options={[
            { value: "", text: "all apps" },
            ...containers.map(({ name }) => ({ value: name, text: name })),
          ]}
        />
      </FollowedLog>
    </section>
  );
}

/** The log of an app. It can be paused; lines printed meanwhile are shown afterwards. */
function FollowedLog(props: {
  readonly podId: string;
  readonly appName: string;
  /** Other controls of the log. */
  readonly children: ComponentChildren;
}) {
  const { log, state } = useLog(props.podId, props.appName);
  const held = useSignal<LogBuffer | undefined>(undefined);
  const shown = held.value ?? log.value;
  const isHeld = held.value !== undefined;
  return (
    <>
      <div class="log-controls">
        {props.children}
        <button
          type="button"
          onClick={() => {
            held.value = isHeld ? undefined : log.value;
          }}
        >
          {isHeld ? "Resume" : "Pause"}
        </button>
        <LogStateText of={state.value} />
        {isHeld && <span>Paused, {linesText(log.value.everCount - shown.everCount)} since</span>}
      </div>
      {state.value.state === "failed" && <ErrorNote error={state.value.error} />}
      <LogView of={shown} />
      <p class="quiet">
        Times are in UTC.{" "}
        {shown.everCount > shown.lineCount && `The newest ${maxLines.toLocaleString()} lines are kept here.`}
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
      {state.state === "connecting" && <Badge tone="busy">connecting</Badge>}
      {state.state === "live" && <Badge tone="ok">live</Badge>}
      {state.state === "live" && state.resumedAtMs !== undefined && (
        <span class="quiet">
          Reconnected at <TimeText atMs={state.resumedAtMs} />: no lines were lost.
        </span>
      )}
      {state.state === "ended" && <Badge tone="off">ended: the pod was removed</Badge>}
      {state.state === "failed" && <Badge tone="bad">failed</Badge>}
      {state.state === "lost" && (
        <>
          <Badge tone="warn">connection lost</Badge>
          <span class="quiet">Retrying; the log continues where it stopped.</span>
        </>
      )}
    </span>
  );
}
