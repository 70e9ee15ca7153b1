import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { RuntimePod } from "../../../adapters/podman/runtime-state.ts";

/** How a caller may name a pod beside its whole id. */
export interface FindPodOptions {
  /** The field of the request, for errors. */
  readonly field: string;
  /** Whether the beginning of an id will do, if no other pod has it. */
  readonly prefix: boolean;
  /** Whether its name will do. */
  readonly name: boolean;
}

const maxLength = 256;

/**
 * The pod that a caller means; letters of an id may be large or small. A whole id counts before a name, and a name before the
 * beginning of an id.
 * @throws InfraError INVALID_FIELD for nothing, for too much, and for the beginning of several ids; POD_NOT_FOUND
 */
export function findPod(pods: readonly RuntimePod[], wanted: string, options: FindPodOptions): RuntimePod {
  const { field, prefix, name } = options;
  if (wanted === "" || wanted.length > maxLength) {
    throw invalidField(field, `must be the id of a pod, of 1 to ${maxLength} characters`);
  }
  const id = wanted.toLowerCase();
  const whole =
    pods.find(({ uuid }) => uuid === id) ?? (name ? pods.find((pod) => pod.name === wanted) : undefined);
  const [first, second] =
    whole !== undefined ? [whole] : prefix ? pods.filter(({ uuid }) => uuid.startsWith(id)) : [];
  if (first === undefined) {
    throw new InfraError("POD_NOT_FOUND", `there is no pod ${wanted}`, { resource: `pods/${wanted}` });
  }
  if (second !== undefined) {
    throw invalidField(
      field,
      `is the beginning of several ids, as ${first.uuid} and ${second.uuid}: tell more of it`,
    );
  }
  return first;
}
