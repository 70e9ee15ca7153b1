import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { RuntimeImage } from "../../../adapters/podman/runtime-state.ts";

/** An id as the runtime tells it: requests may have `sha256:` in front of it, and letters large. */
export function imageIdFrom(text: string): string {
  return text.toLowerCase().replace(/^sha256:/, "");
}

const maxLength = 256;

/**
 * The image of an id, which has to be whole.
 * @throws InfraError INVALID_FIELD for nothing and for too much; IMAGE_NOT_FOUND
 */
export function findImage(images: readonly RuntimeImage[], wanted: string, field: string): RuntimeImage {
  if (wanted === "" || wanted.length > maxLength) {
    throw invalidField(field, `must be the id of an image, of 1 to ${maxLength} characters`);
  }
  const id = imageIdFrom(wanted);
  const found = images.find((image) => image.id === id);
  if (found === undefined) {
    throw new InfraError("IMAGE_NOT_FOUND", `there is no image ${wanted}`, { resource: `images/${id}` });
  }
  return found;
}
