import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Operation } from "../../operations/operation.ts";
import { operationNotFound } from "../../operations/operation-not-found.ts";
import type { Call } from "../../rpc/call/call.ts";
import { callableServices } from "../../rpc/call/callable-services.ts";
import { type MethodRule, methodPathOf } from "../../rpc/call/method-rule.ts";
import { assertAllowed } from "../../rpc/interceptors/authorization.ts";
import { rpcReasons } from "../../rpc/reasons.ts";

/** Decides who may see and who may change an operation, based on the RPC that started it. */
export interface OperationAccess {
  /** @throws InfraError OPERATION_NOT_FOUND, as for a missing operation, unless the caller may call the service of its RPC */
  assertVisible(call: Call, operation: Operation): void;
  /**
   * @throws InfraError OPERATION_NOT_FOUND, and ROLE_REQUIRED unless the caller may call its RPC, or is an admin if only another
   * version of the gateway has the RPC
   */
  assertChangeable(call: Call, operation: Operation): void;
}

export function createOperationAccess(
  services: readonly DescService[],
  ruleOf: (method: DescMethod) => MethodRule,
): OperationAccess {
  const methods = new Map(
    services
      .flatMap((service): readonly DescMethod[] => service.methods)
      .map((method) => [methodPathOf(method), method]),
  );

  function assertVisible(call: Call, { id, rpc }: Operation): void {
    const [service = ""] = rpc.split("/");
    if (callableServices(call)?.has(service) === false) {
      throw operationNotFound(id);
    }
  }

  return {
    assertVisible,
    assertChangeable(call, operation) {
      assertVisible(call, operation);
      const method = methods.get(operation.rpc);
      if (method !== undefined) {
        assertAllowed(call.caller, method, ruleOf(method));
      } else if (call.caller.role !== "admin") {
        const message = `the operation was started by ${operation.rpc}, which this version of the gateway does not have: only an admin may change it`;
        throw new InfraError(rpcReasons.ROLE_REQUIRED, message);
      }
    },
  };
}
