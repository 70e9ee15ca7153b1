import { lazy } from "preact/compat";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { type Action, actionOf, propose, proposeAll } from "../../action/action.ts";
import { figureOf } from "../../live/inventory.ts";
import type { RowAction } from "../../parts/table/table-props.ts";
import type { ResourceKind } from "../../resources/kind.ts";
import { hasRole } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";
import { imageActions } from "./image-actions.ts";
import { podIdOf } from "./pod-text.tsx";

const { startPod, stopPod, removePod } = PodService.method;

const StopPod = lazy(async () => (await import("./stop-pod.tsx")).StopPod);
const SignalPod = lazy(async () => (await import("./signal-pod.tsx")).SignalPod);

/** Pods and images. */
export const podKinds: readonly ResourceKind[] = [
  {
    type: "pod",
    title: "pod",
    icon: "box",
    pathOf: (pod) => `/pods/${encodeURIComponent(podIdOf(pod))}`,
    isOff: ({ state }) => state !== "running",
    actions: () => (hasRole(Role.OPERATOR) ? podActions : []),
  },
  {
    type: "image",
    title: "image",
    icon: "image",
    pathOf: () => "/pods",
    isOff: (image) => figureOf(image, "containers") === 0,
    actions: () => (hasRole(Role.OPERATOR) ? imageActions : []),
  },
];

const podActions: readonly RowAction<Resource>[] = [
  {
    text: "Start…",
    icon: "play",
    key: "s",
    appliesTo: (pod) =>
      pod.state !== "unreadable" && figureOf(pod, "running_containers") !== figureOf(pod, "containers"),
    run: (pod) => propose(startOf(pod)),
    runAll: (pods) =>
      proposeEach(
        `Start ${pods.length} pods`,
        pods.map((pod) => actionOf(startOf(pod))),
      ),
  },
  {
    text: "Stop…",
    icon: "stop",
    key: "t",
    appliesTo: isRunning,
    run: (pod) => openPanel(`Stop ${pod.title}`, () => <StopPod pod={pod} />),
    runAll: (pods) =>
      proposeEach(
        `Stop ${pods.length} pods`,
        pods.map((pod) => actionOf(stopOf(pod))),
      ),
  },
  {
    text: "Send a signal…",
    icon: "pulse",
    appliesTo: isRunning,
    run: (pod) => openPanel(`Send a signal to ${pod.title}`, () => <SignalPod pod={pod} />),
  },
  {
    text: "Remove…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    run: (pod) => propose(removalOf(pod)),
    runAll: (pods) =>
      proposeEach(
        `Remove ${pods.length} pods`,
        pods.map((pod) => actionOf(removalOf(pod))),
      ),
  },
];

function isRunning({ state }: Resource): boolean {
  return state === "running";
}

function startOf(pod: Resource) {
  return {
    title: `Start the pod ${pod.title}`,
    label: "Start",
    method: startPod,
    request: { pod: podIdOf(pod) },
  };
}

/** With the gateway's default grace period. */
function stopOf(pod: Resource) {
  return {
    title: `Stop the pod ${pod.title}`,
    label: "Stop",
    method: stopPod,
    request: { pod: podIdOf(pod) },
  };
}

function removalOf(pod: Resource) {
  const isStopped = pod.state === "created" || pod.state === "exited";
  return {
    title: `Remove the pod ${pod.title}`,
    label: isRunning(pod) ? "Stop and remove" : "Remove",
    method: removePod,
    request: { pod: podIdOf(pod), force: !isStopped },
    isDangerous: true,
    confirmName: pod.title,
  };
}

/** @param title what all do together: "Stop 3 pods" */
function proposeEach(title: string, actions: readonly Action[]): void {
  const [only] = actions;
  if (only !== undefined && actions.length === 1) {
    proposeAll(only.title, only.label, actions, only.confirmName);
  } else {
    proposeAll(title, title, actions, String(actions.length));
  }
}
