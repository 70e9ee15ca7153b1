import type { KubernetesAdapter } from "./adapter.ts";
import { createClusterAccess } from "./cluster-access.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { inspectKubernetes } from "./inspect.ts";
import { createObjectWatch, type ObjectWatch } from "./object-watch.ts";
import { pathOf, titleOf, type WatchedName, watchedKinds, watchedNames } from "./resources.ts";
import { type RawParts, stateFrom } from "./state.ts";
import { createStateKeeper } from "./state-keeper.ts";

export interface KubernetesOptions {
  /** Says where the cluster is and who the gateway is there; undefined: it is the account of the gateway's pod. */
  readonly kubeconfigPath?: string | undefined;
  /** Of the kubeconfig; its current one when undefined. */
  readonly context?: string | undefined;
  /** Where Rook is; `rook-ceph` unless told. */
  readonly namespace?: string | undefined;
  /** How often the cluster is asked whether it is there, and how long an answer is awaited; 5,000 unless told. */
  readonly heartbeatMs?: number;
  readonly patienceMs?: number;
  /** For how long what cannot be watched any more is told; 30,000 unless told. */
  readonly keepMs?: number;
  /** How long after a failure a watch is begun again; from 1,000 to 30,000 unless told. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number };
}

/** A Kubernetes cluster, watched from now on. */
export function createKubernetes(options: KubernetesOptions): KubernetesAdapter {
  const { kubeconfigPath, context, namespace = "rook-ceph" } = options;
  const { heartbeatMs = 5_000, patienceMs = 5_000, keepMs = 30_000 } = options;
  const { retry = { firstMs: 1_000, longestMs: 30_000 } } = options;
  const access = createClusterAccess({ kubeconfigPath, context, patienceMs });
  // Begun once it is known where the cluster is.
  let watches: Readonly<Record<WatchedName, ObjectWatch>> | undefined;
  const keeper = createStateKeeper({ keepMs, load: loadState });
  const heartbeat = createHeartbeat({
    access,
    everyMs: heartbeatMs,
    onBeat({ error, heardAtMs, isBack }) {
      if (error === undefined) {
        watches ??= beginWatches();
      }
      if (isBack) {
        for (const watch of Object.values(watches ?? {})) {
          watch.retryNow();
        }
      }
      keeper.setHeard(error, heardAtMs);
    },
  });

  function beginWatches(): Readonly<Record<WatchedName, ObjectWatch>> {
    const entries = watchedNames.map((name) => {
      const kind = watchedKinds[name];
      const title = kind.isNamespaced ? `${titleOf(kind)} in ${namespace}` : titleOf(kind);
      const path = pathOf(kind, namespace);
      const onAway = () => heartbeat.beatNow();
      return [
        name,
        createObjectWatch({ access, path, title, keepMs, retry, onChange: keeper.setChanged, onAway }),
      ];
    });
    return Object.fromEntries(entries);
  }

  /** Undefined until each kind is listed, or that has failed. */
  function loadState() {
    if (watches === undefined) {
      return undefined;
    }
    const parts: Partial<Record<WatchedName, RawParts[WatchedName]>> = {};
    for (const name of watchedNames) {
      const part = watches[name].objects();
      if (part === undefined) {
        return undefined;
      }
      // A kind that only Koor's operator brings is not missing where there is none.
      parts[name] = name === "koorClusters" && watches[name].isAbsent() ? { ok: [] } : part;
    }
    return stateFrom(heartbeat.version(), parts as RawParts);
  }

  return {
    kind: "real",
    read: keeper.read,
    subscribe: keeper.subscribe,
    async inspect() {
      await heartbeat.beatNow();
      return inspectKubernetes({
        access,
        namespace,
        read: keeper.read,
        isAbsent: (name) => watches?.[name].isAbsent() ?? false,
      });
    },
    async close() {
      heartbeat.close();
      keeper.close();
      for (const watch of Object.values(watches ?? {})) {
        watch.close();
      }
    },
  };
}
