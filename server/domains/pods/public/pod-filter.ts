import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { type Pod, type PodFilter, PodFilterSchema, PodStateSchema } from "../../../../gen/v1alpha/api_pb.ts";
import { imageIdFrom } from "../image-id.ts";
import { assertFilterSizes } from "./filter-sizes.ts";
import { hasAll } from "./key-values.ts";

/** Input of a pod filter: the pod with all its details, and its message. */
export interface FilteredPod {
  readonly pod: Pick<RuntimePod, "labels">;
  readonly message: Pod;
}

/** Reports whether a pod matches. */
type PodTest = (pod: FilteredPod) => boolean;

/**
 * Parses pod filters. A pod matches if all set fields of at least one filter match, or if there are no filters.
 * @throws InfraError INVALID_FIELD for unknown states, and for filters that are too large
 */
export function parsePodFilters(filters: readonly PodFilter[]): PodTest {
  assertFilterSizes(PodFilterSchema, filters);
  const tests = filters.map(testFrom);
  return (pod) => tests.length === 0 || tests.some((test) => test(pod));
}

function testFrom(filter: PodFilter, index: number): PodTest {
  const { appNames, networkNames, annotations, podSubCgroups } = filter;
  for (const [at, state] of filter.states.entries()) {
    if (PodStateSchema.value[state] === undefined) {
      throw invalidField(`filters[${index}].states[${at}]`, `unknown state ${state}`);
    }
  }
  const isOneOf = <T>(values: readonly T[]) => {
    const known = new Set(values);
    return (value: T) => known.size === 0 || known.has(value);
  };
  const matchesId = isOneOf(filter.ids);
  const matchesState = isOneOf(filter.states);
  const matchesCgroup = isOneOf(filter.cgroups);
  const imageIds = filter.imageIds.map(imageIdFrom);
  return ({ pod, message }) =>
    matchesId(message.id) &&
    matchesState(message.state) &&
    matchesCgroup(message.cgroup) &&
    appNames.every((name) => message.apps.some((app) => app.name === name)) &&
    imageIds.every((id) => message.apps.some(({ image }) => image?.id === id)) &&
    networkNames.every((name) => message.networks.some((network) => network.name === name)) &&
    hasAll(pod.labels, annotations) &&
    (podSubCgroups.length === 0 ||
      (message.cgroup !== "" && podSubCgroups.some((path) => path.startsWith(message.cgroup))));
}
