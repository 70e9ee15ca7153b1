import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { PodContainer, RuntimeImage, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { RemoveImageRequest } from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { StepRun } from "../../../operations/operation-kind.ts";
import { imageResource, podResource } from "../own-changes.ts";
import { backendOf } from "./backend-of.ts";
import type { ChangeDefinition, ChangeTools } from "./change-definition.ts";
import { lookAgain } from "./look-again.ts";
import { maxAttempts, namesOf } from "./pod-kind.ts";

/** A type, so that it is Json. */
export type RemoveImageInput = {
  readonly imageId: string;
  readonly names: readonly string[];
  readonly force: boolean;
  /** Pods that used it when it was asked for. */
  readonly podUuids: readonly string[];
  /** As `backendOf`. */
  readonly backend: string;
};

const step = "remove";
const maxLength = 512;

/** images.remove: an image goes with all its names; by force also with the containers that use it. */
export function createRemoveImage({
  runtime,
  own,
  host,
}: ChangeTools): ChangeDefinition<RemoveImageRequest, RemoveImageInput> {
  const stepOf = ({ imageId, force }: RemoveImageInput) => ({ kind: "removeImage", imageId, force }) as const;

  async function forward({ input, operationId, attempt, signal }: StepRun<RemoveImageInput, null>) {
    const { imageId, podUuids } = input;
    const backend = await backendOf(runtime, host, signal);
    if (backend !== input.backend) {
      const words = `the image ${imageId} is of ${input.backend}, and this is ${backend}`;
      throw new InfraError("IMAGE_NOT_FOUND", words, { resource: imageResource(imageId) });
    }
    const resources = [imageResource(imageId), ...podUuids.map(podResource)];
    await own.during({ resources, operationId }, async () => {
      try {
        await runtime.run(stepOf(input));
      } catch (error) {
        const isGone = error instanceof InfraError && error.reason === "IMAGE_NOT_FOUND" && attempt > 1;
        if (!isGone) {
          throw error;
        }
      }
      await lookAgain(runtime);
    });
    return null;
  }

  return {
    kind: {
      kind: "images.remove",
      system: "podman",
      runsOn: "host",
      steps: [{ name: step, title: "removing it with its names", isAbortable: false, maxAttempts, forward }],
      pointOfNoReturn: step,
      result: ({ input }) => ({ imageId: input.imageId, names: input.names }),
    },
    attaches: true,
    async foresee({ image: wanted, force }, backend, signal) {
      const { images, pods } = (await runtime.read(signal)).value;
      const { id, names } = findImage(images, wanted);
      const resource = imageResource(id);
      const users = pods.flatMap((pod) => usersIn(pod, id));
      if (users.length > 0 && !force) {
        const words = `the image ${names[0] ?? id} is used by ${describe(users)}: remove them first, or force its removal`;
        throw new InfraError("IMAGE_IN_USE", words, { resource });
      }
      const input = { imageId: id, names, force, podUuids: users.map(({ pod }) => pod.uuid), backend };
      return {
        resource,
        input,
        step: stepOf(input),
        changes: [`the image ${[names.join(", "), id].filter((word) => word !== "").join(", ")} is removed`],
        losses: users.map(
          ({ pod, containers }) =>
            `${namesOf(containers)} of pod ${pod.name}, with what they do and have written`,
        ),
      };
    },
    isFor: ({ image }, { imageId, names }) => idOf(image) === imageId || names.includes(image),
  };
}

/** Containers of a pod that use an image. */
interface Users {
  readonly pod: RuntimePod;
  readonly containers: readonly PodContainer[];
}

function usersIn(pod: RuntimePod, imageId: string): readonly Users[] {
  const containers = pod.containers.filter(({ image }) => image.id === imageId);
  return containers.length === 0 ? [] : [{ pod, containers }];
}

function describe(users: readonly Users[]): string {
  const named = users.slice(0, 10).map(({ pod }) => `pod ${pod.name}`);
  return users.length > named.length
    ? `${named.join(", ")} and ${users.length - named.length} more`
    : named.join(", ");
}

/** @throws InfraError INVALID_FIELD, IMAGE_NOT_FOUND */
function findImage(images: readonly RuntimeImage[], wanted: string): RuntimeImage {
  if (wanted === "" || wanted.length > maxLength) {
    throw invalidField(
      "image",
      `must be an image's id or a name with its tag, of 1 to ${maxLength} characters`,
    );
  }
  const found =
    images.find(({ id }) => id === idOf(wanted)) ?? images.find(({ names }) => names.includes(wanted));
  if (found === undefined) {
    throw new InfraError("IMAGE_NOT_FOUND", `there is no image ${wanted}`, {
      resource: imageResource(wanted),
    });
  }
  return found;
}

function idOf(wanted: string): string {
  return wanted.toLowerCase().replace(/^sha256:/, "");
}
