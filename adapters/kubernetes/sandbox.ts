import type { InfraError } from "../host/infra-error.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { KubernetesAdapter } from "./adapter.ts";
import { type WatchedName, watchedNames } from "./resources.ts";
import { type Manifest, quietRook, type SandboxRook, sandboxManifests } from "./sandbox-cluster.ts";
import { type RawParts, stateFrom } from "./state.ts";
import { createStateKeeper } from "./state-keeper.ts";

export interface KubernetesSandboxOptions extends SandboxOptions<never> {
  readonly namespace?: string;
  /** `quietRook` by default. */
  readonly rook?: SandboxRook;
  /** Same as in the real adapter. */
  readonly keepMs?: number;
}

/** The sandbox with functions that simulate events. Readers see them at once. */
export interface KubernetesSandbox extends KubernetesAdapter {
  /** Creates or replaces an object. */
  put(kind: WatchedName, object: Manifest): void;
  remove(kind: WatchedName, name: string): void;
  /** Returns the objects of a kind, as an API server returns them. */
  manifests(kind: WatchedName): readonly Manifest[];
  /** Makes a kind missing for this reason, until called with undefined. */
  setMissing(kind: WatchedName, reason: string | undefined): void;
  /** Makes the cluster unreachable, until called with undefined. */
  setOutage(error: InfraError | undefined): void;
}

const version = "v1.36.3";

/** A cluster in memory: the hosts of the Ceph sandbox, with Rook on them. */
export function createKubernetesSandbox(options: KubernetesSandboxOptions = {}): KubernetesSandbox {
  const { namespace = "rook-ceph", keepMs = 30_000, rook = quietRook } = options;
  const { clock = systemClock, faults = createStepFaults() } = options;
  const seeds = sandboxManifests(clock.nowMs(), namespace, rook);
  const objects = new Map(
    watchedNames.map(
      (kind) => [kind, new Map(seeds[kind].map((seed) => [seed.metadata.name, seed]))] as const,
    ),
  );
  const missing = new Map<WatchedName, string>();
  let awayAtMs = 0;
  const keeper = createStateKeeper({ load: () => stateFrom(version, parts()), keepMs });
  keeper.setAnswered(undefined, Number.POSITIVE_INFINITY);

  function manifests(kind: WatchedName): readonly Manifest[] {
    return [...(objects.get(kind)?.values() ?? [])];
  }

  function parts(): RawParts {
    const entries = watchedNames.map((kind) => {
      const reason = missing.get(kind);
      return [kind, reason === undefined ? { ok: manifests(kind) } : { missing: reason }] as const;
    });
    return Object.fromEntries(entries) as RawParts;
  }

  return {
    kind: "sandbox",
    async read(signal) {
      const snapshot = await keeper.read(signal);
      return { ...snapshot, readAtMs: faults.outage() === undefined ? performance.now() : awayAtMs };
    },
    subscribe: keeper.subscribe,
    async inspect() {
      const outage = faults.outage();
      if (outage !== undefined) {
        const fix = "check that the API server is running and that storage.kubernetes names it";
        return { version: undefined, findings: [{ ok: false, what: outage.message, fix }] };
      }
      const lacks = [...missing.values()].map((what) => ({
        ok: false,
        what,
        fix: "kubectl apply -f deploy/kubernetes/cluster-role.yaml",
      }));
      return { version, findings: [{ ok: true, what: "a Kubernetes cluster in memory" }, ...lacks] };
    },
    put(kind, object) {
      objects.get(kind)?.set(object.metadata.name, object);
      keeper.setChanged();
    },
    remove(kind, name) {
      objects.get(kind)?.delete(name);
      keeper.setChanged();
    },
    manifests,
    setMissing(kind, reason) {
      if (reason === undefined) {
        missing.delete(kind);
      } else {
        missing.set(kind, reason);
      }
      keeper.setChanged();
    },
    setOutage(error) {
      if (faults.outage() === undefined) {
        awayAtMs = performance.now();
      }
      faults.setOutage(error);
      keeper.setAnswered(error, error === undefined ? Number.POSITIVE_INFINITY : awayAtMs);
    },
    async close() {
      keeper.close();
    },
  };
}
