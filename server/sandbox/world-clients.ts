import { type Client, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Cluster } from "../../gen/cnct/kaas/api/api_pb.ts";
import { OperationService } from "../../gen/hostplane/v1/operation_pb.ts";
import { OperationsService } from "../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../gen/proto/lvmd_pb.ts";

/** The services that the demo world calls. */
export interface WorldClients {
  readonly clusters: Client<typeof Cluster>;
  readonly hypervisors: Client<typeof OperationsService>;
  readonly logicalVolumes: Client<typeof LVService>;
  readonly operations: Client<typeof OperationService>;
}

/** Creates clients that call the gateway over its admin socket, as the command line does. */
export function createWorldClients(socketPath: string): WorldClients {
  const transport = createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath },
  });
  return {
    clusters: createClient(Cluster, transport),
    hypervisors: createClient(OperationsService, transport),
    logicalVolumes: createClient(LVService, transport),
    operations: createClient(OperationService, transport),
  };
}
