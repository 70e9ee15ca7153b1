import { z } from "zod";
import { hasReason, InfraError } from "../host/infra-error.ts";
import { createLineSplitter } from "../host/line-splitter.ts";
import { hostReasons } from "../host/reasons.ts";
import type { RunOptions, RuntimeOutcome, RuntimeStep } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { commandOf } from "./commands.ts";
import { listOf, parseReply } from "./parse/parse-reply.ts";
import { podmanReasons } from "./reasons.ts";
import type { PodContainer, RuntimePod } from "./runtime-state.ts";
import { inspectImage, inspectPod, readImageUsers } from "./state.ts";

const patienceMs = 120_000;

/** Performs a step through Podman. @throws InfraError as `PodRuntime.run` */
export async function makeStep(
  client: PodmanClient,
  step: RuntimeStep,
  options: RunOptions,
): Promise<RuntimeOutcome> {
  const [method, path] = commandOf(step);
  if (step.kind === "pullImage") {
    return { imageId: await pull(client, path, options) };
  }
  if (step.kind === "removeImage" && !step.force) {
    await removeUnusedImage(client, step.imageId);
    return {};
  }
  if (step.kind === "stopPod") {
    await stopPod(client, step.podId, step.graceSeconds);
    return {};
  }
  if (step.kind === "startPod" || (step.kind === "killPod" && step.signal !== "SIGKILL")) {
    assertNotPaused(await inspectPod(client, step.podId, undefined));
  }
  try {
    await client.change(method, path, { patienceMs });
  } catch (error) {
    // `{"Errs":["starting container …: exec: \"/nonexist\": stat /nonexist: no such file or directory …"]}` with 409.
    if (step.kind === "startPod" && hasReason(error, podmanReasons.PODMAN_FAILED)) {
      throw new InfraError(podmanReasons.POD_START_FAILED, error.message, { cause: error });
    }
    throw error;
  }
  return {};
}

/**
 * Rejects a pod with a paused container: in Podman 4.3.1, a signal would end the infra container but not reach paused
 * ones. SIGKILL ends those too.
 */
function assertNotPaused({ name, containers }: RuntimePod): void {
  const paused = containers.find(({ state }) => state === "paused");
  if (paused !== undefined) {
    throw new InfraError(podmanReasons.POD_STATE, `${paused.name} of pod ${name} is paused`);
  }
}

/**
 * Stops a pod. If a container has exited, the pod is `Degraded`, and Podman 4.3.1 answers its stop with 304, as if
 * nothing ran. It ignores `t=0` and gives each container its own timeout, 10 seconds. It leaves paused containers as
 * they are, and returns 200.
 */
async function stopPod(client: PodmanClient, podId: string, graceSeconds: number): Promise<void> {
  const times = { patienceMs: patienceMs + graceSeconds * 1_000 };
  const [method, path] = commandOf({ kind: "stopPod", podId, graceSeconds });
  const { containers: before } = await inspectPod(client, podId, undefined);
  const paused = before.filter(({ state }) => state === "paused");
  await Promise.all(paused.map(({ id }) => goOn(client, id)));
  if (graceSeconds === 0 || !(await client.change(method, path, times))) {
    const { containers } = await inspectPod(client, podId, undefined);
    const running = containers.filter(isUp);
    const stop = ({ id }: PodContainer) =>
      unlessGone(client.change("POST", `containers/${id}/stop?timeout=${graceSeconds}`, times));
    // The other containers need the infra container.
    await Promise.all(running.filter(({ isInfra }) => !isInfra).map(stop));
    await Promise.all(running.filter(({ isInfra }) => isInfra).map(stop));
  }
  const { name, containers } = await inspectPod(client, podId, undefined);
  const left = containers.filter(isUp);
  if (left.length > 0) {
    const words = left.map((each) => `${each.name} is ${each.state}`).join(", ");
    throw new InfraError(podmanReasons.POD_STATE, `Podman reported pod ${name} as stopped, but ${words}`);
  }
}

function isUp({ state }: PodContainer): boolean {
  return state === "running" || state === "paused" || state === "stopping";
}

/** Resumes a container. One that was resumed or removed by another client meanwhile is fine too. */
async function goOn(client: PodmanClient, containerId: string): Promise<void> {
  try {
    await unlessGone(client.change("POST", `containers/${containerId}/unpause`, { patienceMs }));
  } catch (error) {
    if (!hasReason(error, podmanReasons.POD_STATE)) {
      throw error;
    }
  }
}

async function unlessGone(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!hasReason(error, podmanReasons.CONTAINER_NOT_FOUND)) {
      throw error;
    }
  }
}

/**
 * Removes an image that no container uses. By id, Podman 4.3.1 refuses to remove an image with several names: `unable
 * to delete image "…" by ID with more than one tag ([localhost/lab/busybox:1 localhost/second:2]): please force
 * removal`; and with force it also removes the containers.
 */
async function removeUnusedImage(client: PodmanClient, imageId: string): Promise<void> {
  const [user] = await readImageUsers(client, imageId, undefined);
  if (user !== undefined) {
    throw new InfraError(podmanReasons.IMAGE_IN_USE, `The container ${user.name} uses the image`);
  }
  const { names } = await inspectImage(client, imageId, undefined);
  // Removing its last name removes the image.
  for (const name of names.length > 1 ? names : [imageId]) {
    await client.change("DELETE", `images/${encodeURI(name)}?force=false`, { patienceMs });
  }
}

const report = z.object({
  stream: z.string().default(""),
  error: z.string().default(""),
  id: z.string().default(""),
  images: listOf(z.string()),
});

/** Pulls an image. The reply is 200 at once; the last line of its body shows whether the pull succeeded. */
async function pull(client: PodmanClient, path: string, { signal, onProgress }: RunOptions): Promise<string> {
  const ending = new AbortController();
  const stop = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const split = createLineSplitter();
  let imageId = "";
  try {
    for await (const chunk of await client.stream("POST", path, stop)) {
      for (const line of split(chunk).filter((each) => each.trim() !== "")) {
        const { stream, error, id, images } = parseReply("images/pull", report, line);
        if (error !== "") {
          throw new InfraError(podmanReasons.IMAGE_PULL_FAILED, `The image could not be pulled: ${error}`);
        }
        if (stream !== "") {
          onProgress?.(stream.trimEnd());
        }
        imageId = id || images[0] || imageId;
      }
    }
  } catch (error) {
    if (signal?.aborted && !(error instanceof InfraError)) {
      throw signal.reason instanceof InfraError
        ? signal.reason
        : new InfraError(hostReasons.CALLER_LEFT, "The caller left before the image was pulled", {
            cause: error,
          });
    }
    throw error;
  } finally {
    ending.abort();
  }
  if (imageId === "") {
    // A complete reply ends with an image id or an error.
    throw new InfraError(
      podmanReasons.PODMAN_UNAVAILABLE,
      "The connection to Podman was lost before the image was pulled",
    );
  }
  return imageId.replace(/^sha256:/, "");
}
