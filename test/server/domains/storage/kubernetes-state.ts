import type { KubernetesState } from "../../../../adapters/kubernetes/adapter.ts";
import type { WatchedName } from "../../../../adapters/kubernetes/resources.ts";
import {
  type Manifest,
  type Manifests,
  sandboxManifests,
} from "../../../../adapters/kubernetes/sandbox-cluster.ts";
import { type RawParts, stateFrom } from "../../../../adapters/kubernetes/state.ts";

/** The sandbox's cluster after a change of its objects, and without the kinds that cannot be read, with the reason. */
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

/** With this in place of parts of its spec or status. */
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
