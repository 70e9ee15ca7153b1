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
  /** Pods of which the runtime cannot tell; those that are not among the others have no name here. None unless told. */
  readonly unreadable?: readonly UnreadablePod[];
}

const maxLength = 256;

/**
 * The pod that a caller means; letters of an id may be large or small, and the runtime's own id will do as well. A whole id
 * counts before a name, and a name before the beginning of an id.
 * @throws InfraError INVALID_FIELD for nothing, for too much, and for the beginning of several ids; POD_NOT_FOUND; PODMAN_FAILED
 *   for one that cannot be read, and is not among the others as it was
 */
export function findPod(pods: readonly RuntimePod[], wanted: string, options: FindPodOptions): RuntimePod {
  const found = findAnyPod(pods, wanted, options);
  if ("why" in found) {
    const { podUuid, why } = found;
    throw new InfraError("PODMAN_FAILED", `the pod ${podUuid} cannot be read now: ${why}`, {
      resource: `pods/${podUuid}`,
    });
  }
  return found;
}

/**
 * The same, also one that cannot be read.
 * @throws InfraError INVALID_FIELD, POD_NOT_FOUND, as `findPod`
 */
export function findAnyPod(
  pods: readonly RuntimePod[],
  wanted: string,
  { field, prefix, name, unreadable = [] }: FindPodOptions,
): RuntimePod | UnreadablePod {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name has them, and no error is to repeat them
  if (wanted === "" || wanted.length > maxLength || /[\0-\x1f\x7f]/.test(wanted)) {
    const what = name ? "id or the name" : "id";
    throw invalidField(field, `must be the ${what} of a pod, of 1 to ${maxLength} printable characters`);
  }
  const id = wanted.toLowerCase();
  const readable = new Set(pods.map((pod) => pod.id));
  const all = [...pods, ...unreadable.filter(({ podId }) => !readable.has(podId))];
  const whole =
    all.find((pod) => idsOf(pod).includes(id)) ??
    (name ? pods.find((pod) => pod.name === wanted) : undefined);
  const begins = (pod: RuntimePod | UnreadablePod) => idsOf(pod).some((each) => each.startsWith(id));
  const [first, second] = whole !== undefined ? [whole] : prefix ? all.filter(begins) : [];
  if (first === undefined) {
    const more = !prefix && all.some(begins) ? "; the beginning of an id is not enough for this" : "";
    throw new InfraError("POD_NOT_FOUND", `there is no pod ${wanted}${more}`, {
      resource: `pods/${wanted}`,
    });
  }
  if (second !== undefined) {
    const [one, other] = [first, second].map((pod) => idsOf(pod)[0]);
    throw invalidField(field, `is the beginning of several ids, as ${one} and ${other}: tell more of it`);
  }
  return first;
}

/** As the contract has it, and as the runtime has it. */
function idsOf(pod: RuntimePod | UnreadablePod): readonly [string, string] {
  return "why" in pod ? [pod.podUuid, pod.podId] : [pod.uuid, pod.id];
}
