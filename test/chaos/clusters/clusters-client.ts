import { setTimeout as wait } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Cluster, ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService, type ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { type RpcError, rpcErrorFrom } from "../../server/harness/rpc-error.ts";

export interface ClusterClients {
  readonly clusters: Client<typeof Cluster>;
  readonly machines: Client<typeof ClusterService>;
}

export type IsDone = (error: RpcError, wasCut: boolean) => boolean | Promise<boolean>;

/** A client that keeps retrying while its gateways are killed. */
export interface ClustersClient {
  /**
   * @param isDone reports whether an error means that the change is made; `wasCut` is true if an earlier try got no response and
   * may have made it
   * @returns undefined if the change was made but no response arrived
   * @throws Error for an error that a retry cannot fix
   */
  query<T>(call: (clients: ClusterClients) => Promise<T>, isDone?: IsDone): Promise<T | undefined>;
  /** Undefined if there is no such cluster. */
  state(name: string): Promise<ClusterState | undefined>;
  states(): Promise<readonly ClusterState[]>;
}

const patienceMs = 600_000;
const callTimeoutMs = 15_000;

/** @param urlNow returns the URL of the running gateway; undefined while there is none */
export function createClustersClient(urlNow: () => string | undefined): ClustersClient {
  const known = new Map<string, ClusterClients>();

  function clientsOf(url: string): ClusterClients {
    const found = known.get(url);
    if (found !== undefined) {
      return found;
    }
    const transport = createConnectTransport({
      baseUrl: url,
      httpVersion: "1.1",
      defaultTimeoutMs: callTimeoutMs,
    });
    const created = {
      clusters: createClient(Cluster, transport),
      machines: createClient(ClusterService, transport),
    };
    known.set(url, created);
    return created;
  }

  const query: ClustersClient["query"] = async (call, isDone = () => false) => {
    const endMs = performance.now() + patienceMs;
    let wasCut = false;
    for (;;) {
      const url = urlNow();
      if (url !== undefined) {
        try {
          return await call(clientsOf(url));
        } catch (thrown) {
          const error = rpcErrorFrom(thrown);
          if (await isDone(error, wasCut)) {
            return undefined;
          }
          const isCut = error.reason === undefined;
          if (!isCut && !isForNow(error)) {
            throw thrown;
          }
          if (performance.now() > endMs) {
            throw new Error(`still refused: ${error.reason ?? error.code} ${error.message}`, {
              cause: thrown,
            });
          }
          wasCut ||= isCut;
        }
      }
      await wait(60);
    }
  };

  async function states(names: readonly string[]): Promise<readonly ClusterState[]> {
    const read = async ({ machines }: ClusterClients) => {
      // The library's own timer would keep running after the stream is left.
      const options = { signal: AbortSignal.timeout(callTimeoutMs), timeoutMs: 0 };
      for await (const { clusters } of machines.watchClusters({ names: [...names] }, options)) {
        return clusters;
      }
      return [];
    };
    return (await query(read)) ?? [];
  }

  return {
    query,
    states: () => states([]),
    state: async (name) => (await states([name]))[0],
  };
}

/** Reports whether an error is temporary. */
function isForNow({ code, reason }: RpcError): boolean {
  return (
    ["UNAVAILABLE", "ABORTED", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "CANCELLED"].includes(code) ||
    /^(MAAS_|UPGRADE_IN_PROGRESS|POOL_STOPPING|CLUSTER_CHANGED)/.test(reason ?? "")
  );
}

export function isSettled({ status, generation, settledGeneration }: ClusterState): boolean {
  return status === ClusterStatus.RUNNING && generation === settledGeneration;
}
