import { createOnce } from "../host/create-once.ts";
import type { WorkloadAdapter, WorkloadCluster } from "./adapter.ts";

/**
 * Creates clients whose adapter is created on first use, for one that is expensive to create.
 * @param make called once, and again after a failure; its errors are thrown by the calls that needed it
 */
export function createDeferredWorkload(
  kind: WorkloadAdapter["kind"],
  make: () => Promise<WorkloadAdapter>,
): WorkloadAdapter {
  const { get, created } = createOnce(make);

  return {
    kind,
    connect(access) {
      let connected: WorkloadCluster | undefined;

      function deferred<Args extends readonly unknown[], Result>(
        call: (cluster: WorkloadCluster) => (...args: Args) => Promise<Result>,
      ): (...args: Args) => Promise<Result> {
        return async (...args) => {
          const adapter = await get();
          connected ??= adapter.connect(access);
          return call(connected)(...args);
        };
      }

      return {
        version: deferred((cluster) => cluster.version),
        nodes: deferred((cluster) => cluster.nodes),
        writeSecret: deferred((cluster) => cluster.writeSecret),
        cordon: deferred((cluster) => cluster.cordon),
        drain: deferred((cluster) => cluster.drain),
        deleteNode: deferred((cluster) => cluster.deleteNode),
        setVersion: deferred((cluster) => cluster.setVersion),
        removeEtcdMember: deferred((cluster) => cluster.removeEtcdMember),
        async close() {
          await connected?.close();
        },
      };
    },
    async close() {
      await (await created())?.close();
    },
  };
}
