import { InfraError } from "../../host/infra-error.ts";
import type { ImageUser } from "../adapter.ts";
import { uuidFromPodId } from "../parse/parse-pod.ts";
import { podmanReasons } from "../reasons.ts";
import type { RuntimeImage } from "../runtime-state.ts";
import type { SandboxEmitter } from "./sandbox-emitter.ts";
import { imageOf, type SandboxContainer } from "./sandbox-view.ts";

/** The images of a sandbox, and its containers outside pods, which matter only as users of images. */
export interface SandboxImages {
  all(): readonly RuntimeImage[];
  /** @throws InfraError IMAGE_NOT_FOUND */
  byName(name: string): RuntimeImage;
  /** @throws InfraError IMAGE_NOT_FOUND */
  byId(id: string): RuntimeImage;
  /** Returns the id of the image with this name, which is created if necessary. */
  add(name: string): string;
  /** Removes the image, with the containers outside pods that use it. */
  remove(image: RuntimeImage): void;
  /** Adds a container outside pods and returns its id. @throws InfraError IMAGE_NOT_FOUND */
  addContainer(name: string, image: string): string;
  /** Containers that use the image, in and outside pods. */
  users(imageId: string): readonly ImageUser[];
}

/**
 * @param nextId returns a unique id
 * @param inPods returns the containers of all pods
 */
export function createSandboxImages(
  { nowNs, emitImage }: Pick<SandboxEmitter, "nowNs" | "emitImage">,
  nextId: (what: string) => string,
  inPods: () => readonly SandboxContainer[],
): SandboxImages {
  const images = new Map<string, RuntimeImage>();
  const containers = new Map<string, { readonly name: string; readonly imageId: string }>();

  function named(name: string): RuntimeImage | undefined {
    return [...images.values()].find(({ names }) => names.includes(name));
  }

  function byName(name: string): RuntimeImage {
    const found = named(name);
    if (found === undefined) {
      throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `no image with name ${name}`);
    }
    return found;
  }

  return {
    all: () => [...images.values()],
    byName,
    byId(id) {
      const found = images.get(id);
      if (found === undefined) {
        throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `no image with id ${id}`);
      }
      return found;
    },
    add(name) {
      const known = named(name);
      if (known !== undefined) {
        return known.id;
      }
      const image = imageOf(nextId("image"), name, nowNs());
      images.set(image.id, image);
      emitImage("imageAdded", image);
      return image.id;
    },
    remove(image) {
      for (const [id, { imageId }] of containers) {
        if (imageId === image.id) {
          containers.delete(id);
        }
      }
      images.delete(image.id);
      emitImage("imageRemoved", image);
    },
    addContainer(name, image) {
      const id = nextId("container");
      containers.set(id, { name, imageId: byName(image).id });
      return id;
    },
    users: (imageId) => [
      ...inPods()
        .filter(({ image }) => image.id === imageId)
        .map(({ id: containerId, name, podId, isInfra }) => {
          return { containerId, name, podId, podUuid: uuidFromPodId(podId), isInfra };
        }),
      ...[...containers]
        .filter(([, container]) => container.imageId === imageId)
        .map(([containerId, { name }]) => {
          return { containerId, name, podId: undefined, podUuid: undefined, isInfra: false };
        }),
    ],
  };
}
