import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** Type of machine. Images and MAAS tags use the same words. */
export type InstanceType = "standard" | "gpu";

export const instanceTypes: readonly InstanceType[] = ["standard", "gpu"];

/** Returns the type with that name; undefined if there is none. */
export function instanceTypeFrom(text: string): InstanceType | undefined {
  return instanceTypes.find((type) => type === text);
}

/**
 * Parses the type in a request.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD
 */
export function parseInstanceType(text: string, field: string): InstanceType {
  const type = instanceTypeFrom(text);
  if (type === undefined) {
    throw invalidField(field, `expected ${instanceTypes.join(" or ")}`);
  }
  return type;
}
