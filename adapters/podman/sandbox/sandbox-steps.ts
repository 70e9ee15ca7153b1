import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { Clock } from "../../sandbox/clock.ts";
import type { RunOptions, RuntimeOutcome, RuntimeStep } from "../adapter.ts";
import { podmanReasons } from "../reasons.ts";
import type { SandboxPods } from "./sandbox-pods.ts";

export interface SandboxStepTarget {
  readonly pods: SandboxPods;
  /** Duration of a stop and of a pull. */
  readonly stopMs: number;
  readonly pullMs: number;
  readonly clock: Clock;
}

/** Makes a change in a sandbox. @throws InfraError as `PodRuntime.run` */
export async function makeSandboxStep(
  { pods, stopMs, pullMs, clock }: SandboxStepTarget,
  step: RuntimeStep,
  options: RunOptions,
): Promise<RuntimeOutcome> {
  switch (step.kind) {
    case "startPod":
      assertNotPaused(pods, step.podId);
      pods.startPod(step.podId);
      return {};
    case "stopPod":
      await clock.sleep(Math.min(stopMs, step.graceSeconds * 1_000));
      stop(pods, step.podId, step.graceSeconds === 0 ? 137 : 0);
      return {};
    case "killPod":
      if (step.signal !== "SIGKILL") {
        assertNotPaused(pods, step.podId);
      }
      pods.endPod(step.podId, 137);
      return {};
    case "removePod":
      pods.removePod(step.podId, step.force);
      return {};
    case "pullImage":
      return { imageId: await pull({ pods, pullMs, clock }, step.reference, options) };
    case "removeImage":
      pods.removeImage(step.imageId, step.force);
      return {};
  }
}

async function pull(
  { pods, pullMs, clock }: Omit<SandboxStepTarget, "stopMs">,
  reference: string,
  { signal, onProgress }: RunOptions,
): Promise<string> {
  onProgress?.(`Trying to pull ${reference}...`);
  try {
    await clock.sleep(pullMs, signal);
  } catch (cause) {
    throw signal?.reason instanceof InfraError
      ? signal.reason
      : new InfraError(hostReasons.CALLER_LEFT, "The caller left before the image was pulled", { cause });
  }
  if (reference.includes("/missing")) {
    throw new InfraError(
      podmanReasons.IMAGE_PULL_FAILED,
      `The image could not be pulled: no such image ${reference}`,
    );
  }
  return pods.addImage(reference);
}

function assertNotPaused(pods: SandboxPods, podId: string): void {
  const pod = pods.state().pods.find(({ id }) => id === podId);
  const paused = pod?.containers.find(({ state }) => state === "paused");
  if (paused !== undefined) {
    throw new InfraError(podmanReasons.POD_STATE, `${paused.name} of pod ${pod?.name} is paused`);
  }
}

/** A pod that is not running counts as stopped. */
function stop(pods: SandboxPods, podId: string, exitCode: number): void {
  try {
    pods.endPod(podId, exitCode);
  } catch (error) {
    if (!(error instanceof InfraError) || !error.is(podmanReasons.POD_STATE)) {
      throw error;
    }
  }
}
