import type { KubernetesAdapter } from "./adapter.ts";
import { createClusterAccess } from "./cluster-access.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { inspectKubernetes } from "./inspect.ts";
import { createObjectWatch, type ObjectWatch } from "./object-watch.ts";
import { pathOf, titleOf, type WatchedName, watchedKinds, watchedNames } from "./resources.ts";
import { type RawParts, stateFrom } from "./state.ts";
import { createStateKeeper } from "./state-keeper.ts";

export interface KubernetesOptions {
  /** The kubeconfig with the cluster and the gateway's user; undefined: the service account of the gateway's pod. */
  readonly kubeconfigPath?: string | undefined;
  /** Context of the kubeconfig; the current one if undefined. */
  readonly context?: string | undefined;
  /** Rook's namespace; `rook-ceph` by default. */
  readonly namespace?: string | undefined;
  /** Interval of heartbeats, and timeout of a reply; 5,000 by default. */
  readonly heartbeatMs?: number;
  readonly patienceMs?: number;
  /** Time during which a state that can no longer be watched is still returned; 30,000 by default. */
  readonly keepMs?: number;
  /** Delay before a failed watch is restarted; from 1,000 to 30,000 by default. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number };
}

/** Creates the adapter for a Kubernetes cluster, and starts watching. */
export function createKubernetes(options: KubernetesOptions): KubernetesAdapter {
  const { kubeconfigPath, context, namespace = "rook-ceph" } = options;
  const { heartbeatMs = 5_000, patienceMs = 5_000, keepMs = 30_000 } = options;
  const { retry = { firstMs: 1_000, longestMs: 30_000 } } = options;
  const access = createClusterAccess({ kubeconfigPath, context, patienceMs });
  // Started once the cluster's address is known.
  let watches: Readonly<Record<WatchedName, ObjectWatch>> | undefined;
  const keeper = createStateKeeper({ keepMs, load: loadState });
  const heartbeat = createHeartbeat({
    access,
    everyMs: heartbeatMs,
    onBeat({ error, answeredAtMs, isBack }) {
      if (error === undefined) {
        watches ??= beginWatches();
      }
      if (isBack) {
        for (const watch of Object.values(watches ?? {})) {
          watch.retryNow();
        }
      }
      keeper.setAnswered(error, answeredAtMs);
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

  /** Undefined until each kind has been listed or has failed to be. */
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
      // If Koor's operator is not installed, its kind does not exist, which is not an error.
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
      await access.close();
    },
  };
}
