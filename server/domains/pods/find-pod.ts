import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { RuntimePod, UnreadablePod } from "../../../adapters/podman/runtime-state.ts";

/** How a caller may name a pod beside its whole id. */
export interface FindPodOptions {
  /** The field of the request, for errors. */
  readonly field: string;
  /** Whether the beginning of an id will do, if no other pod has it. */
  readonly prefix: boolean;
  /** Whether its name will do. */
  readonly name: boolean;
  /** Pods of which the runtime cannot tell; they are not found unless told. */
  readonly unreadable?: readonly UnreadablePod[];
}

const maxLength = 256;

/**
 * The pod that a caller means; letters of an id may be large or small, and the runtime's own id will do as well. A whole id
 * counts before a name, and a name before the beginning of an id.
 * @throws InfraError INVALID_FIELD for nothing, for too much, and for the beginning of several ids; POD_NOT_FOUND; PODMAN_FAILED
 *   for one that cannot be read
 */
export function findPod(pods: readonly RuntimePod[], wanted: string, options: FindPodOptions): RuntimePod {
  const { field, prefix, name, unreadable = [] } = options;
  if (wanted === "" || wanted.length > maxLength) {
    throw invalidField(field, `must be the id of a pod, of 1 to ${maxLength} characters`);
  }
  const id = wanted.toLowerCase();
  const isWhole = (pod: PodIds) => pod.uuid === id || pod.id === id;
  const begins = (pod: PodIds) => pod.uuid.startsWith(id) || pod.id.startsWith(id);
  const whole = pods.find(isWhole) ?? (name ? pods.find((pod) => pod.name === wanted) : undefined);
  const [first, second] = whole !== undefined ? [whole] : prefix ? pods.filter(begins) : [];
  if (first === undefined) {
    assertReadable(unreadable, prefix ? begins : isWhole);
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

type PodIds = Pick<RuntimePod, "id" | "uuid">;

function assertReadable(unreadable: readonly UnreadablePod[], isMeant: (pod: PodIds) => boolean): void {
  const pod = unreadable.find(({ podId, podUuid }) => isMeant({ id: podId, uuid: podUuid }));
  if (pod !== undefined) {
    throw new InfraError("PODMAN_FAILED", `the pod ${pod.podUuid} cannot be read now: ${pod.why}`, {
      resource: `pods/${pod.podUuid}`,
    });
  }
}
