import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../adapters/podman/reasons.ts";
import type { RuntimeImage } from "../../../adapters/podman/runtime-state.ts";

/** Normalizes an image id to the runtime's form: requests may contain the prefix `sha256:` and uppercase letters. */
export function imageIdFrom(text: string): string {
  return text.toLowerCase().replace(/^sha256:/, "");
}

const maxLength = 256;

/**
 * Finds an image by its full id.
 * @throws InfraError INVALID_FIELD for an empty or overlong value; IMAGE_NOT_FOUND
 */
export function findImage(images: readonly RuntimeImage[], reference: string, field: string): RuntimeImage {
  if (reference === "" || reference.length > maxLength) {
    throw invalidField(field, `must be the id of an image, of 1 to ${maxLength} characters`);
  }
  const id = imageIdFrom(reference);
  const found = images.find((image) => image.id === id);
  if (found === undefined) {
    throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `image ${reference} not found`, {
      resource: `images/${id}`,
    });
  }
  return found;
}
