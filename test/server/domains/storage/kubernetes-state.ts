import type { KubernetesState } from "../../../../adapters/kubernetes/adapter.ts";
import type { WatchedName } from "../../../../adapters/kubernetes/resources.ts";
import {
  type Manifest,
  type Manifests,
  sandboxManifests,
} from "../../../../adapters/kubernetes/sandbox-cluster.ts";
import { type RawParts, stateFrom } from "../../../../adapters/kubernetes/state.ts";

/** Returns the state of the sandbox's cluster with changed objects, and with kinds missing for a reason. */
export function kubernetesState(
  change: (manifests: Manifests) => Partial<Manifests> = () => ({}),
  missing: Partial<Record<WatchedName, string>> = {},
): KubernetesState {
  const seeds = sandboxManifests(Date.UTC(2026, 0, 31), "rook-ceph");
  const manifests = { ...seeds, ...change(seeds) };
  const entries = Object.entries(manifests).map(([kind, objects]) => {
    const reason = missing[kind as WatchedName];
    return [kind, reason === undefined ? { ok: objects } : { missing: reason }];
  });
  return stateFrom("v1.36.3", Object.fromEntries(entries) as RawParts);
}

/** Returns the object with parts of its spec or status replaced. */
export function changed(
  object: Manifest,
  part: { readonly spec?: object; readonly status?: object },
): Manifest {
  return {
    ...object,
    spec: { ...(object.spec as object), ...part.spec },
    status: { ...(object.status as object), ...part.status },
  };
}
