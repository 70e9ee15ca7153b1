import { type Signal, useSignal } from "@preact/signals";
import { type Pod, PodContainerState, PodService, PodState } from "../../../gen/hostplane/v1/pod_pb.ts";
import { propose } from "../../action/action.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";

const { startPod, stopPod, killPod, removePod } = PodService.method;

const signals = ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2"].map((name) => ({
  value: name,
  text: name,
}));

/** Starts, stops, signals and removes a pod. */
export function PodActions({ of: pod }: { readonly of: Pod }) {
  const { id, name, state } = pod;
  const isRunning = state === PodState.RUNNING;
  const areAllRunning = pod.containers.every((each) => each.state === PodContainerState.RUNNING);
  const grace = useSignal("10");
  const signal = useSignal("SIGKILL");
  return (
    <div class="stack">
      <div class="row">
        <button
          type="button"
          disabled={isRunning && areAllRunning}
          onClick={() =>
            propose({ title: `Start ${name}`, label: "Start", method: startPod, request: { pod: id } })
          }
        >
          Start …
        </button>
        <button
          type="button"
          class="danger"
          onClick={() =>
            propose({
              title: `Remove ${name}`,
              label: isRunning ? "Stop and remove" : "Remove",
              method: removePod,
              request: { pod: id, force: isRunning },
              isDangerous: true,
            })
          }
        >
          Remove …
        </button>
      </div>
      {isRunning && <EndPod of={pod} grace={grace} signal={signal} />}
    </div>
  );
}

function EndPod(props: {
  readonly of: Pod;
  readonly grace: Signal<string>;
  readonly signal: Signal<string>;
}) {
  const { of: pod, grace, signal } = props;
  const { id, name } = pod;
  return (
    <div class="pod-fields">
      <form
        class="stack"
        aria-label="Stop the pod"
        onSubmit={(event) => {
          event.preventDefault();
          propose({
            title: `Stop ${name}`,
            label: "Stop",
            method: stopPod,
            request: { pod: id, graceSeconds: Number(grace.value) },
            isDangerous: true,
          });
        }}
      >
        <TextField
          label="Grace period in seconds"
          type="number"
          min={0}
          max={3600}
          value={grace}
          hint="Programs that still run after that are killed."
          required
        />
        <button type="submit">Stop …</button>
      </form>
      <form
        class="stack"
        aria-label="Send a signal"
        onSubmit={(event) => {
          event.preventDefault();
          propose({
            title: `Send ${signal.value} to ${name}`,
            label: "Send",
            method: killPod,
            request: { pod: id, signal: signal.value },
            isDangerous: true,
          });
        }}
      >
        <SelectField label="Signal for every program" value={signal} options={signals} />
        <button type="submit">Send …</button>
      </form>
    </div>
  );
}
