import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import type { RunOptions, RuntimeOutcome, RuntimeStep } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { commandOf } from "./commands.ts";
import { parseContainerRows } from "./parse-container.ts";
import { createLineSplitter } from "./parse-event.ts";
import { listOf, parseReply } from "./parse-reply.ts";
import type { PodContainer } from "./runtime-state.ts";
import { inspectImage, inspectPod } from "./state.ts";

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

/**
 * A pod of which a container has ended is `Degraded`, and Podman 4.3.1 says 304 to its stop: as if none of it ran. `t=0` it takes
 * for no time told, and gives each container its own: 10 seconds.
 */
async function stopPod(client: PodmanClient, podId: string, graceSeconds: number): Promise<void> {
  const times = { patienceMs: patienceMs + graceSeconds * 1_000 };
  const [method, path] = commandOf({ kind: "stopPod", podId, graceSeconds });
  if (graceSeconds > 0 && (await client.change(method, path, times))) {
    return;
  }
  const { containers } = await inspectPod(client, podId, undefined);
  const running = containers.filter(({ state }) => state === "running" || state === "stopping");
  const stop = ({ id }: PodContainer) =>
    unlessGone(client.change("POST", `containers/${id}/stop?timeout=${graceSeconds}`, times));
  // The infra container holds what the others need.
  await Promise.all(running.filter(({ isInfra }) => !isInfra).map(stop));
  await Promise.all(running.filter(({ isInfra }) => isInfra).map(stop));
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
  const containers = parseContainerRows(await client.text("containers/json?all=true"));
  const user = containers.find(({ ImageID }) => ImageID.replace(/^sha256:/, "") === imageId);
  if (user !== undefined) {
    throw new InfraError("IMAGE_IN_USE", `The container ${user.Names[0] ?? user.Id} uses the image`);
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
