import { hasReason, InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { RuntimeImage } from "../../../../adapters/podman/runtime-state.ts";
import type { RemoveImageRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { StepRun } from "../../../operations/operation-kind.ts";
import { imageResource, podResource } from "../events/own-changes.ts";
import { imageIdFrom } from "../image-id.ts";
import { assertBackend } from "./backend-of.ts";
import { describeImageUsers, readImageUsers } from "./image-users.ts";
import type { ChangeTools, PodChange } from "./pod-change.ts";
import { inspectStep, maxAttempts } from "./pod-kind.ts";
import { refreshRuntime } from "./refresh-runtime.ts";

/** A type and not an interface, so that it is assignable to Json. */
export type RemoveImageInput = {
  readonly imageId: string;
  readonly names: readonly string[];
  readonly force: boolean;
  /** As `backendOf`. */
  readonly backend: string;
};

/** State of the image before. A type and not an interface, so that it is assignable to Json. */
type ImageBefore = {
  readonly names: readonly string[];
  /** Pods that used it. */
  readonly podUuids: readonly string[];
};

type Run = StepRun<RemoveImageInput, null>;

const step = "remove";
const maxLength = 512;

/**
 * images.remove: removes an image with all its names; with force also the containers that use it, in pods and outside of
 * them.
 */
export function createRemoveImage({
  runtime,
  own,
  host,
}: ChangeTools): PodChange<RemoveImageRequest, RemoveImageInput> {
  const stepOf = ({ imageId, force }: RemoveImageInput) => ({ kind: "removeImage", imageId, force }) as const;

  async function inspect({ input, signal }: Run): Promise<ImageBefore> {
    await assertBackend(runtime, host, input.backend, podmanReasons.IMAGE_NOT_FOUND, signal);
    const { names } = await runtime.inspectImage(input.imageId, signal);
    const users = await readImageUsers(runtime, input.imageId, [], signal);
    return { names, podUuids: users.flatMap(({ podUuid }) => podUuid ?? []) };
  }

  async function forward({ input, operationId, attempt, output }: Run): Promise<null> {
    const { podUuids } = output(inspectStep) as ImageBefore;
    const resources = [imageResource(input.imageId), ...podUuids.map(podResource)];
    await own.during({ resources, operationId }, async () => {
      try {
        await runtime.run(stepOf(input));
      } catch (error) {
        const isDone = hasReason(error, podmanReasons.IMAGE_NOT_FOUND) && attempt > 1;
        if (!isDone) {
          throw error;
        }
      }
      await refreshRuntime(runtime);
    });
    return null;
  }

  async function undo({ input, output }: Run): Promise<void> {
    const { names } = output(inspectStep) as ImageBefore;
    const { images } = (await runtime.read()).value;
    const image = images.find(({ id }) => id === input.imageId);
    const lost = names.filter((name) => image?.names.includes(name) !== true);
    if (image === undefined || lost.length > 0) {
      const words =
        image === undefined ? `the image ${input.imageId} is removed` : `${lost.join(", ")} is removed`;
      throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, words, { resource: imageResource(input.imageId) });
    }
  }

  return {
    kind: {
      kind: "images.remove",
      system: "podman",
      runsOn: "host",
      steps: [
        {
          name: inspectStep,
          title: "inspecting the image",
          weight: 0.1,
          isAbortable: true,
          maxAttempts,
          forward: inspect,
        },
        {
          name: step,
          title: "removing the image with its names",
          isAbortable: false,
          maxAttempts,
          forward,
          undo,
          attention: (_run, error) => ({
            left: [`It cannot be undone: ${error.message}.`],
            advice: ["Leave the operation, or pull the image again and restore its names with podman."],
          }),
        },
      ],
      pointOfNoReturn: step,
      result: ({ input, output }) => ({
        imageId: input.imageId,
        names: (output(inspectStep) as ImageBefore).names,
      }),
    },
    attachKeyOf: ({ imageId, force }) => `${imageId} ${force}`,
    async check({ image: reference, force }, backend, signal) {
      const { images, pods } = (await runtime.read(signal)).value;
      const { id, names } = findImage(images, reference);
      const resource = imageResource(id);
      const users = await readImageUsers(runtime, id, pods, signal);
      if (users.length > 0 && !force) {
        const words = `the image ${names[0] ?? id} is used by ${describeImageUsers(users)}: remove them first, or force its removal`;
        throw new InfraError(podmanReasons.IMAGE_IN_USE, words, { resource });
      }
      const input = { imageId: id, names, force, backend };
      return {
        resource,
        input,
        step: stepOf(input),
        changes: [`the image ${[names.join(", "), id].filter((word) => word !== "").join(", ")} is removed`],
        losses: users.map(({ loss }) => loss),
        facts: { id, names: names.join(", "), users: users.map(({ who }) => who).join(", ") },
      };
    },
    isFor: ({ image, force }, input) =>
      force === input.force && (imageIdFrom(image) === input.imageId || input.names.includes(image)),
  };
}

/** @throws InfraError INVALID_FIELD, IMAGE_NOT_FOUND */
function findImage(images: readonly RuntimeImage[], reference: string): RuntimeImage {
  if (reference === "" || reference.length > maxLength) {
    throw invalidField(
      "image",
      `must be an image's id or a name with its tag, of 1 to ${maxLength} characters`,
    );
  }
  const found =
    images.find(({ id }) => id === imageIdFrom(reference)) ??
    images.find(({ names }) => names.includes(reference));
  if (found === undefined) {
    throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `image ${reference} not found`, {
      resource: imageResource(reference),
    });
  }
  return found;
}
