import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { Pod } from "../../../gen/hostplane/v1/pod_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { client } from "../../session.ts";

/** One pod with its containers and networks, live; null if it is gone or cannot be read. */
export function usePod(
  id: string,
): ReadonlySignal<{ readonly value: Pod | null | undefined; readonly error: unknown }> {
  const watching = useWatch((options) => client.pods.watchPods({}, options));
  return useComputed(() => {
    const { value, error } = watching.value;
    return {
      value: value === undefined ? undefined : (value.pods.find((pod) => pod.id === id) ?? null),
      error,
    };
  });
}
