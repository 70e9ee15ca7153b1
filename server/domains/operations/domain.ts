import { OperationService } from "../../../gen/hostplane/v1/operation_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { operationCallReasons } from "./call-reasons.ts";

/** The service checks each operation. */
const operationAccess = registerAccess(OperationService, {
  getOperation: "own",
  listOperations: "own",
  watchOperation: "own",
  cancelOperation: "own",
  retryOperation: "own",
  listCommands: "own",
});

/** Long-running changes of all domains. */
export const operationsDomain = defineGatewayDomain({
  name: "operations",
  services: [
    {
      service: OperationService,
      // Callers see the operations of the services that they may call. Changes also require the role and service of the RPC that
      // started the operation.
      rules: {
        GetOperation: { ofEveryService: true, get: false, cache: false },
        ListOperations: { ofEveryService: true, get: false, cache: false },
        WatchOperation: { ofEveryService: true },
        ListCommands: { role: "operator", ofEveryService: true, get: false, cache: false },
        CancelOperation: { ofEveryService: true },
        RetryOperation: { ofEveryService: true },
      },
    },
  ],
  usesStore: true,
  hasEvents: true,
  reasons: operationCallReasons,
  async serve(context) {
    const { createOperationService } = await import("./service.ts");
    const { createFleetOperations } = await import("./hosts/fleet-operations.ts");
    const { createOperationAccess } = await import("./operation-access.ts");
    const services = context.services.map(({ service }) => service);
    const access = createOperationAccess(services, context.ruleOf, context.visibilityOf);
    const fleet = createFleetOperations(context.fleet, context.operations, access.isVisible, context.store);
    return {
      registrations: [createOperationService({ ...context, access, fleet })],
      planners: [],
      access: [operationAccess],
      backends: [],
    };
  },
});
