import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** What kind of machine is asked for; images and MAAS's tags have the same words. */
export type InstanceType = "standard" | "gpu";

export const instanceTypes: readonly InstanceType[] = ["standard", "gpu"];

/** The type of that name; undefined when there is none. */
export function instanceTypeFrom(text: string): InstanceType | undefined {
  return instanceTypes.find((type) => type === text);
}

/**
 * Reads the type of a request.
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
