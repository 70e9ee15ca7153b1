import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { PodContainerState } from "../../../gen/hostplane/v1/pod_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import type { StatusKind } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";

/** The id of a pod, by which calls address it. */
export function podIdOf({ name }: Resource): string {
  return name.slice("pods/".length);
}

/** "1 of 2 running" for the containers of a pod; "—" for a pod that cannot be read. */
export function runningContainersText(pod: Resource): string {
  const count = figureOf(pod, "containers");
  return count === undefined ? "—" : `${figureOf(pod, "running_containers") ?? 0} of ${count} running`;
}

/** A time of a resource, from one of its figures; "—" without it. */
export function FigureTime({ of, figure }: { readonly of: Resource; readonly figure: string }) {
  const atSeconds = figureOf(of, figure);
  return atSeconds === undefined ? <span class="quiet">—</span> : <TimeText atMs={atSeconds * 1000} />;
}

const containerStates: Readonly<Record<number, { readonly kind: StatusKind; readonly text: string }>> = {
  [PodContainerState.CREATED]: { kind: "off", text: "created" },
  [PodContainerState.RUNNING]: { kind: "ok", text: "running" },
  [PodContainerState.PAUSED]: { kind: "warn", text: "paused" },
  [PodContainerState.STOPPING]: { kind: "running", text: "stopping" },
  [PodContainerState.EXITED]: { kind: "off", text: "exited" },
};

/** The status of a container, with its exit code. A code other than 0 is a failure, except 143, the end by SIGTERM. */
export function containerStatus(
  state: PodContainerState,
  exitCode: number | undefined,
): { readonly kind: StatusKind; readonly text: string } {
  if (state === PodContainerState.EXITED && exitCode !== undefined) {
    const hasFailed = exitCode !== 0 && exitCode !== 143;
    return { kind: hasFailed ? "failed" : "off", text: `exited with code ${exitCode}` };
  }
  return containerStates[state] ?? { kind: "unknown", text: "unknown" };
}
