import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { RemovePodRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podResource } from "../events/own-changes.ts";
import { findAnyPod } from "../find-pod.ts";
import { factsOfPod } from "./pod-before.ts";
import type { ChangeTools, CheckedChange, PodChange } from "./pod-change.ts";
import { appsOf, isUp, namesOf } from "./pod-containers.ts";
import { inspectNow, type PodInput, podInputOf } from "./pod-input.ts";
import { createPodKind } from "./pod-kind.ts";

/** A type and not an interface, so that it is assignable to Json. */
export type RemovePodInput = PodInput & { readonly force: boolean };

/** pods.remove: removes a pod with its containers and their data; with force also a pod that cannot be read. */
export function createRemovePod(tools: ChangeTools): PodChange<RemovePodRequest, RemovePodInput> {
  const { runtime } = tools;
  const stepOf = ({ podId, force }: RemovePodInput) => ({ kind: "removePod", podId, force }) as const;
  const kind = createPodKind(tools, {
    kind: "pods.remove",
    step: "remove",
    title: "removing the pod with its containers",
    stepOf,
    doneReason: podmanReasons.POD_NOT_FOUND,
    mayBeUnreadable: ({ force }) => force,
  });

  function targetOf(
    input: RemovePodInput,
  ): Pick<CheckedChange<RemovePodInput>, "resource" | "input" | "step"> {
    return { resource: podResource(input.podUuid), input, step: stepOf(input) };
  }

  function checkReadable(pod: RuntimePod, input: RemovePodInput): CheckedChange<RemovePodInput> {
    const isRunning = pod.containers.some(isUp);
    if (isRunning && !input.force) {
      const words = `pod ${pod.name} is running: stop it first, or force its removal`;
      throw new InfraError(podmanReasons.POD_STATE, words, { resource: podResource(pod.uuid) });
    }
    const apps = appsOf(pod);
    const running = apps.filter(isUp);
    return {
      ...targetOf(input),
      changes: [`pod ${pod.name} is removed${apps.length === 0 ? "" : ` with ${namesOf(apps)}`}`],
      losses: [
        ...(running.length === 0 ? [] : [`work in progress of ${namesOf(running)}`]),
        ...(apps.length === 0
          ? []
          : [
              `data that ${namesOf(apps)} wrote to their own file systems and to anonymous volumes, and their logs`,
            ]),
      ],
      facts: factsOfPod(pod),
    };
  }

  function checkUnreadable(input: RemovePodInput, why: string): CheckedChange<RemovePodInput> {
    const name = `pod ${input.podName}`;
    if (!input.force) {
      const words = `${name} cannot be read at the moment and can only be removed by force: ${why}`;
      throw new InfraError(podmanReasons.PODMAN_FAILED, words, { resource: podResource(input.podUuid) });
    }
    return {
      ...targetOf(input),
      changes: [`${name}, which cannot be read, is removed with everything left of it`],
      losses: [`work in progress, data and logs of its containers, which are unknown: ${why}`],
      facts: { id: input.podId, containers: "unknown" },
    };
  }

  return {
    kind,
    attachKeyOf: ({ podId, force }) => `${podId} ${force}`,
    async check(request, backend, signal) {
      const { force } = request;
      const { pods, unreadable } = (await runtime.read(signal)).value;
      const found = findAnyPod(pods, request.pod, { field: "pod", name: true, prefix: false, unreadable });
      const known =
        "why" in found
          ? { podId: found.podId, podUuid: found.podUuid, podName: found.podUuid, backend }
          : podInputOf(found, backend);
      try {
        const pod = await inspectNow(runtime, known.podId, signal);
        return checkReadable(pod, { ...podInputOf(pod, backend), force });
      } catch (error) {
        if (!hasReason(error, podmanReasons.PODMAN_FAILED)) {
          throw error;
        }
        return checkUnreadable({ ...known, force }, error.message);
      }
    },
    isFor(request, { podId, podUuid, podName, force }) {
      const id = request.pod.toLowerCase();
      return request.force === force && (id === podUuid || id === podId || request.pod === podName);
    },
  };
}
