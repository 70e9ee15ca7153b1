import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { StopPodRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podResource } from "../events/own-changes.ts";
import { factsOfPod } from "./pod-before.ts";
import type { ChangeTools, PodChange } from "./pod-change.ts";
import { appsOf, isPaused, isUp, namesOf } from "./pod-containers.ts";
import { type PodInput, podInputOf, readPod } from "./pod-input.ts";
import { createPodKind } from "./pod-kind.ts";

/** A type and not an interface, so that it is assignable to Json. */
export type StopInput = PodInput & { readonly graceSeconds: number };

const defaultGraceSeconds = 10;
const maxGraceSeconds = 3_600;

/**
 * pods.stop: asks every container of a pod to exit, and kills those that do not exit in time; paused ones are resumed for
 * that. Containers that are not running count as stopped.
 */
export function createStopPod(tools: ChangeTools): PodChange<StopPodRequest, StopInput> {
  const stepOf = ({ podId, graceSeconds }: StopInput) => ({ kind: "stopPod", podId, graceSeconds }) as const;
  const kind = createPodKind(tools, {
    kind: "pods.stop",
    step: "stop",
    title: "stopping its containers",
    stepOf,
    isLong: true,
  });
  return {
    kind,
    attachKeyOf: ({ podId, graceSeconds }) => `${podId} ${graceSeconds}`,
    async check(request, backend, signal) {
      const { graceSeconds = defaultGraceSeconds } = request;
      if (graceSeconds < 0 || graceSeconds > maxGraceSeconds) {
        throw invalidField("grace_seconds", `must be from 0 to ${maxGraceSeconds}, is ${graceSeconds}`);
      }
      const pod = await readPod(tools.runtime, request.pod, { prefix: true }, signal);
      const input = { ...podInputOf(pod, backend), graceSeconds };
      const running = appsOf(pod).filter(isUp);
      const paused = running.filter(isPaused);
      const end = running.length === 0 ? "" : `: ${namesOf(running)} ${wordsOf(graceSeconds)}`;
      return {
        resource: podResource(pod.uuid),
        input,
        step: stepOf(input),
        changes: [
          ...(paused.length === 0
            ? []
            : [`${namesOf(paused)} of pod ${pod.name} is resumed in order to stop`]),
          ...(pod.containers.some(isUp) ? [`pod ${pod.name} is stopped${end}`] : []),
        ],
        losses: [],
        facts: factsOfPod(pod),
      };
    },
  };
}

function wordsOf(graceSeconds: number): string {
  return graceSeconds === 0 ? "killed" : `asked to exit, and killed after ${graceSeconds} seconds`;
}
