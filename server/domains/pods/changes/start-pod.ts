import type { StartPodRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podResource } from "../events/own-changes.ts";
import { factsOfPod } from "./pod-before.ts";
import type { ChangeTools, PodChange } from "./pod-change.ts";
import { appsOf, isUp, namesOf } from "./pod-containers.ts";
import { assertNotPaused, type PodInput, podInputOf, readPod } from "./pod-input.ts";
import { createPodKind } from "./pod-kind.ts";

const undoGraceSeconds = 10;

/**
 * pods.start: starts every container of a pod; running ones stay as they are. If one fails to start, the started ones are
 * stopped again, provided no container of the pod was running before.
 */
export function createStartPod(tools: ChangeTools): PodChange<StartPodRequest, PodInput> {
  const stepOf = ({ podId }: PodInput) => ({ kind: "startPod", podId }) as const;
  return {
    kind: createPodKind(tools, {
      kind: "pods.start",
      step: "start",
      title: "starting its containers",
      stepOf,
      undoOf: ({ podId }) => ({ kind: "stopPod", podId, graceSeconds: undoGraceSeconds }),
    }),
    attachKeyOf: ({ podId }) => podId,
    async check(request, backend, signal) {
      const pod = await readPod(tools.runtime, request.pod, { prefix: true }, signal);
      assertNotPaused(pod);
      const input = podInputOf(pod, backend);
      const idle = appsOf(pod).filter((each) => !isUp(each));
      const isAsIs = pod.containers.every(isUp);
      const what = idle.length === 0 ? "" : ` with ${namesOf(idle)}`;
      return {
        resource: podResource(pod.uuid),
        input,
        step: stepOf(input),
        changes: isAsIs ? [] : [`pod ${pod.name} is started${what}`],
        losses: [],
        facts: factsOfPod(pod),
      };
    },
  };
}
