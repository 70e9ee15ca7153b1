import { PodContainerState, PodState } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";

type Shown = Readonly<Record<number, { readonly tone: Tone; readonly text: string }>>;

const pods: Shown = {
  [PodState.CREATED]: { tone: "off", text: "created" },
  [PodState.RUNNING]: { tone: "ok", text: "running" },
  [PodState.EXITED]: { tone: "off", text: "exited" },
};

const containers: Shown = {
  [PodContainerState.CREATED]: { tone: "off", text: "created" },
  [PodContainerState.RUNNING]: { tone: "ok", text: "running" },
  [PodContainerState.PAUSED]: { tone: "warn", text: "paused" },
  [PodContainerState.STOPPING]: { tone: "busy", text: "stopping" },
  [PodContainerState.EXITED]: { tone: "off", text: "exited" },
};

/** A pod's state in a word. */
export function PodStateBadge({ state }: { readonly state: PodState }) {
  return <StateBadge of={pods[state]} />;
}

/** A container's state, with its exit code; a code other than 0 is shown as a failure. */
export function ContainerStateBadge(props: {
  readonly state: PodContainerState;
  readonly exitCode?: number | undefined;
}) {
  const { state, exitCode } = props;
  const hasFailed = state === PodContainerState.EXITED && exitCode !== undefined && exitCode !== 0;
  return hasFailed ? <Badge tone="bad">exited with {exitCode}</Badge> : <StateBadge of={containers[state]} />;
}

function StateBadge({ of: shown }: { readonly of: Shown[number] | undefined }) {
  return <Badge tone={shown?.tone ?? "warn"}>{shown?.text ?? "not known"}</Badge>;
}
