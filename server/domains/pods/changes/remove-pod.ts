import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { RemovePodRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podResource } from "../own-changes.ts";
import type { ChangeDefinition, ChangeTools } from "./change-definition.ts";
import { appsOf, isUp, namesOf, type PodInput, podInputOf, readPod } from "./pod-facts.ts";
import { createPodKind } from "./pod-kind.ts";

/** A type, so that it is Json. */
export type RemovePodInput = PodInput & { readonly force: boolean };

/** pods.remove: a pod goes with its containers and what they have written. */
export function createRemovePod(tools: ChangeTools): ChangeDefinition<RemovePodRequest, RemovePodInput> {
  const stepOf = ({ podId, force }: RemovePodInput) => ({ kind: "removePod", podId, force }) as const;
  const kind = createPodKind(tools, {
    kind: "pods.remove",
    step: "remove",
    title: "removing it with its containers",
    stepOf,
    doneReason: "POD_NOT_FOUND",
  });
  return {
    kind,
    attachKeyOf: ({ podId, force }) => `${podId} ${force}`,
    async foresee(request, backend, signal) {
      const { force } = request;
      const pod = await readPod(tools.runtime, request.pod, { prefix: false }, signal);
      const resource = podResource(pod.uuid);
      const isRunning = pod.containers.some(isUp);
      if (isRunning && !force) {
        const words = `pod ${pod.name} runs: stop it first, or force its removal`;
        throw new InfraError("POD_STATE", words, { resource });
      }
      const input = { ...podInputOf(pod, backend), force };
      const apps = appsOf(pod);
      const running = apps.filter(isUp);
      return {
        resource,
        input,
        step: stepOf(input),
        changes: [`pod ${pod.name} is removed${apps.length === 0 ? "" : ` with ${namesOf(apps)}`}`],
        losses: [
          ...(running.length === 0 ? [] : [`whatever ${namesOf(running)} does: it is ended`]),
          ...(apps.length === 0
            ? []
            : [
                `what ${namesOf(apps)} wrote to file systems of their own, and to volumes without a name; what they printed`,
              ]),
        ],
      };
    },
    isFor: ({ pod }, { podUuid, podName }) => pod.toLowerCase() === podUuid || pod === podName,
  };
}
