import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import type { RunOptions, RuntimeOutcome, RuntimeStep } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { commandOf } from "./commands.ts";
import { createLineSplitter } from "./parse-event.ts";
import { listOf, parseReply } from "./parse-reply.ts";
import type { PodContainer, RuntimePod } from "./runtime-state.ts";
import { inspectImage, inspectPod, readImageUsers } from "./state.ts";

const patienceMs = 120_000;

/** Has Podman make a step. @throws InfraError as `PodRuntime.run` */
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
    if (step.kind === "startPod" && error instanceof InfraError && error.reason === "PODMAN_FAILED") {
      throw new InfraError("POD_START_FAILED", error.message, { cause: error });
    }
    throw error;
  }
  return {};
}

/** Podman 4.3.1 would have the signal end the infra container, and leave what is paused as it is; SIGKILL ends that, too. */
function assertNotPaused({ name, containers }: RuntimePod): void {
  const paused = containers.find(({ state }) => state === "paused");
  if (paused !== undefined) {
    throw new InfraError("POD_STATE", `${paused.name} of pod ${name} is paused`);
  }
}

/**
 * A pod of which a container has ended is `Degraded`, and Podman 4.3.1 says 304 to its stop: as if none of it ran. `t=0` it takes
 * for no time told, and gives each container its own: 10 seconds. What is paused it leaves as it is, and says 200.
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
    // The infra container holds what the others need.
    await Promise.all(running.filter(({ isInfra }) => !isInfra).map(stop));
    await Promise.all(running.filter(({ isInfra }) => isInfra).map(stop));
  }
  const { name, containers } = await inspectPod(client, podId, undefined);
  const left = containers.filter(isUp);
  if (left.length > 0) {
    const words = left.map((each) => `${each.name} is ${each.state}`).join(", ");
    throw new InfraError("POD_STATE", `Podman has stopped pod ${name}, of which ${words}`);
  }
}

function isUp({ state }: PodContainer): boolean {
  return state === "running" || state === "paused" || state === "stopping";
}

/** What somebody else has had go on, or removed, meanwhile is not paused either. */
async function goOn(client: PodmanClient, containerId: string): Promise<void> {
  try {
    await unlessGone(client.change("POST", `containers/${containerId}/unpause`, { patienceMs }));
  } catch (error) {
    if (!(error instanceof InfraError && error.reason === "POD_STATE")) {
      throw error;
    }
  }
}

async function unlessGone(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof InfraError && error.reason === "CONTAINER_NOT_FOUND")) {
      throw error;
    }
  }
}

/**
 * By id, Podman 4.3.1 removes no image that has several names: `unable to delete image "…" by ID with more than one tag
 * ([localhost/lab/busybox:1 localhost/second:2]): please force removal`; and by force it removes its containers too.
 */
async function removeUnusedImage(client: PodmanClient, imageId: string): Promise<void> {
  const [user] = await readImageUsers(client, imageId, undefined);
  if (user !== undefined) {
    throw new InfraError("IMAGE_IN_USE", `The container ${user.name} uses the image`);
  }
  const { names } = await inspectImage(client, imageId, undefined);
  // The image goes with its last name.
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

/** The answer is 200 at once; whether the pull has come to its end is told in the last line of what follows. */
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
          throw new InfraError("IMAGE_PULL_FAILED", `The image could not be pulled: ${error}`);
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
        : new InfraError("CALLER_LEFT", "The caller left before the image was pulled", { cause: error });
    }
    throw error;
  } finally {
    ending.abort();
  }
  if (imageId === "") {
    // Its last line tells one or the other.
    throw new InfraError("PODMAN_UNAVAILABLE", "Podman went away before the image was pulled");
  }
  return imageId.replace(/^sha256:/, "");
}
