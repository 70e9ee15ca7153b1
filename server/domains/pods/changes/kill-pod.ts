import { constants } from "node:os";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { assertSignal } from "../../../../adapters/podman/names.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { KillPodRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { podResource } from "../events/own-changes.ts";
import { factsOfPod } from "./pod-before.ts";
import type { ChangeTools, PodChange } from "./pod-change.ts";
import { appsOf, isUp, namesOf } from "./pod-containers.ts";
import { assertNotPaused, type PodInput, podInputOf, readPod } from "./pod-input.ts";
import { createPodKind } from "./pod-kind.ts";

/** A type and not an interface, so that it is assignable to Json. */
export type KillInput = PodInput & { readonly signal: string };

/** How long after a signal an exit is attributed to it; a later exit counts as the container's own. */
const lingerMs = 2_000;

/**
 * pods.kill: sends a signal to every container of a pod. Afterwards it cannot be determined whether a signal was sent, so it
 * is sent again if the gateway was killed at that moment.
 */
export function createKillPod(tools: ChangeTools): PodChange<KillPodRequest, KillInput> {
  const stepOf = ({ podId, signal }: KillInput) => ({ kind: "killPod", podId, signal }) as const;
  const kind = createPodKind(tools, {
    kind: "pods.kill",
    step: "signal",
    title: "sending the signal",
    stepOf,
    lingerMs,
    doneReason: podmanReasons.POD_STATE,
  });
  return {
    kind,
    async check(request, backend, leaving) {
      const signal = request.signal === "" ? "SIGKILL" : request.signal;
      assertKnownSignal(signal);
      const pod = await readPod(tools.runtime, request.pod, { prefix: true }, leaving);
      const resource = podResource(pod.uuid);
      if (!pod.containers.some(isUp)) {
        throw new InfraError(podmanReasons.POD_STATE, `no container of pod ${pod.name} is running`, {
          resource,
        });
      }
      if (signal !== "SIGKILL") {
        assertNotPaused(pod);
      }
      const input = { ...podInputOf(pod, backend), signal };
      const running = appsOf(pod).filter(isUp);
      const who = running.length === 0 ? "its infra container" : namesOf(running);
      return {
        resource,
        input,
        step: stepOf(input),
        changes: [`${signal} is sent to pod ${pod.name}: ${who}`],
        losses: signal === "SIGKILL" ? [`unsaved data of ${who}`] : [],
        facts: factsOfPod(pod),
      };
    },
  };
}

/** @throws InfraError INVALID_FIELD */
function assertKnownSignal(signal: string): void {
  assertSignal(signal, "signal");
  if (!(signal in constants.signals) && !/^SIGRT(MIN|MAX)([+-][0-9]{1,2})?$/.test(signal)) {
    throw invalidField("signal", `must be the name of a signal such as SIGTERM; unknown signal ${signal}`);
  }
}
