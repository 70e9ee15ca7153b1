import type { Test } from "tap";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { KubernetesAdapter, KubernetesState } from "../../../adapters/kubernetes/adapter.ts";

/** What is told of a part, where it is. */
export function okOf<T>(part: Part<T>): T {
  if ("missing" in part) {
    throw new Error(`missing: ${part.missing}`);
  }
  return part.ok;
}

/** Reads until the state is as wanted; what fails meanwhile is tried again. */
export async function until(
  t: Test,
  kubernetes: KubernetesAdapter,
  isReached: (state: KubernetesState) => boolean,
): Promise<KubernetesState> {
  const deadlineMs = performance.now() + 60_000;
  let last: unknown;
  while (performance.now() < deadlineMs) {
    try {
      const { value } = await kubernetes.read();
      if (isReached(value)) {
        t.pass("the state is reached");
        return value;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.comment(last);
  throw new Error("the cluster did not come to the state in 60 s");
}
