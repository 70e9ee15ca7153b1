import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../adapters/podman/reasons.ts";
import type { RuntimePod, UnreadablePod } from "../../../adapters/podman/runtime-state.ts";

/** Ways to refer to a pod besides its full id. */
export interface FindPodOptions {
  /** The request's field, for errors. */
  readonly field: string;
  /** Whether a prefix of the id is accepted, if it is unique. */
  readonly prefix: boolean;
  /** Whether the name is accepted. */
  readonly name: boolean;
  /** Pods that the runtime cannot read. Those that are not among the others have no name. None by default. */
  readonly unreadable?: readonly UnreadablePod[];
}

const maxLength = 256;

/**
 * Finds the pod that a caller refers to. Ids are case-insensitive, and the runtime's own id is accepted too. A full id takes
 * precedence over a name, and a name over a prefix of an id.
 * @throws InfraError INVALID_FIELD for an empty or overlong value, and for an ambiguous prefix; POD_NOT_FOUND; PODMAN_FAILED
 *   for a pod that cannot be read and whose previous state is not among the others
 */
export function findPod(pods: readonly RuntimePod[], reference: string, options: FindPodOptions): RuntimePod {
  const found = findAnyPod(pods, reference, options);
  if ("why" in found) {
    const { podUuid, why } = found;
    throw new InfraError(podmanReasons.PODMAN_FAILED, `pod ${podUuid} cannot be read at the moment: ${why}`, {
      resource: `pods/${podUuid}`,
    });
  }
  return found;
}

/**
 * Like `findPod`, but also finds pods that cannot be read.
 * @throws InfraError INVALID_FIELD, POD_NOT_FOUND, as `findPod`
 */
export function findAnyPod(
  pods: readonly RuntimePod[],
  reference: string,
  { field, prefix, name, unreadable = [] }: FindPodOptions,
): RuntimePod | UnreadablePod {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name contains them, and no error must repeat them
  if (reference === "" || reference.length > maxLength || /[\0-\x1f\x7f]/.test(reference)) {
    const what = name ? "id or the name" : "id";
    throw invalidField(field, `must be the ${what} of a pod, of 1 to ${maxLength} printable characters`);
  }
  const id = reference.toLowerCase();
  const readable = new Set(pods.map((pod) => pod.id));
  const all = [...pods, ...unreadable.filter(({ podId }) => !readable.has(podId))];
  const whole =
    all.find((pod) => idsOf(pod).includes(id)) ??
    (name ? pods.find((pod) => pod.name === reference) : undefined);
  const begins = (pod: RuntimePod | UnreadablePod) => idsOf(pod).some((each) => each.startsWith(id));
  const [first, second] = whole !== undefined ? [whole] : prefix ? all.filter(begins) : [];
  if (first === undefined) {
    const more = !prefix && all.some(begins) ? "; a prefix of an id is not accepted here" : "";
    throw new InfraError(podmanReasons.POD_NOT_FOUND, `pod ${reference} not found${more}`, {
      resource: `pods/${reference}`,
    });
  }
  if (second !== undefined) {
    const [one, other] = [first, second].map((pod) => idsOf(pod)[0]);
    throw invalidField(
      field,
      `is an ambiguous prefix of an id: it matches ${one} and ${other}; give a longer one`,
    );
  }
  return first;
}

/** The API's id and the runtime's id. */
function idsOf(pod: RuntimePod | UnreadablePod): readonly [string, string] {
  return "why" in pod ? [pod.podUuid, pod.podId] : [pod.uuid, pod.id];
}
