import { ClusterStatus } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import {
  ClusterService,
  type ClusterState,
  ClusterStateSchema,
} from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { jsonOfMessage } from "../../../cli/table/message-json.ts";
import type { Printer } from "../../../cli/table/printer.ts";
import type { Session } from "../../../cli/table/session.ts";
import { clusterSummary } from "./cluster-text.ts";

/**
 * Prints a cluster's progress until it matches its spec or is gone. Returns false when it reaches the status ERROR.
 * @throws Error when the gateway stops before
 */
export async function followCluster(session: Session, name: string, printer: Printer): Promise<boolean> {
  const enough = new AbortController();
  const request = { names: [name] };
  let isKnown = false;
  try {
    const { messages } = await session.follow(ClusterService.method.watchClusters, request, enough.signal);
    for await (const message of messages) {
      const [cluster] = message.clusters;
      if (cluster !== undefined) {
        isKnown = true;
        const end = endOf(cluster);
        printProgress(cluster, end !== undefined, printer);
        if (end !== undefined) {
          return end;
        }
      } else if (message.removed.includes(name) || !isKnown) {
        // Heartbeats and irrelevant changes contain neither clusters nor removed names.
        printer.out(`${name} is gone`);
        return true;
      }
    }
  } finally {
    enough.abort();
  }
  throw new Error(
    `the gateway stopped before cluster ${name} matched its spec; it continues after a restart`,
  );
}

/** Returns whether a cluster has reached its spec; undefined while it has not. */
function endOf({ status, settledGeneration, generation }: ClusterState): boolean | undefined {
  if (status === ClusterStatus.ERROR) {
    return false;
  }
  return status === ClusterStatus.RUNNING && settledGeneration >= generation ? true : undefined;
}

function printProgress(cluster: ClusterState, isLast: boolean, printer: Printer): void {
  if (printer.format === "json" || printer.format === "yaml") {
    printer.documentInStream(jsonOfMessage(ClusterStateSchema, cluster));
  } else if (isLast && printer.isTerminal) {
    printer.out(clusterSummary(cluster));
  } else {
    printer.progress(clusterSummary(cluster));
  }
}
