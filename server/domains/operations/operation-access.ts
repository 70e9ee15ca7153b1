import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import type { Operation } from "../../operations/operation.ts";
import { operationNotFound } from "../../operations/operation-not-found.ts";
import type { Call } from "../../rpc/call/call.ts";
import { type MethodRule, methodPathOf } from "../../rpc/call/method-rule.ts";
import { assertAllowed } from "../../rpc/interceptors/authorization.ts";
import { assertResourcesGranted } from "../../rpc/interceptors/granted-resources.ts";
import { rpcReasons } from "../../rpc/reasons.ts";

/** Decides who may see and who may change an operation, based on the RPC that started it. */
export interface OperationAccess {
  /** Reports whether the caller may call the service of its RPC, and its grants cover its resource. */
  isVisible(call: Call, operation: Operation): boolean;
  /** @throws InfraError OPERATION_NOT_FOUND, as for a missing operation, unless it is visible */
  assertVisible(call: Call, operation: Operation): void;
  /**
   * @throws InfraError OPERATION_NOT_FOUND, NOT_GRANTED, and ROLE_REQUIRED unless the caller may call its RPC, or is an admin if only another
   * version of the gateway has the RPC
   */
  assertChangeable(call: Call, operation: Operation): void;
  /**
   * Refuses the commands of an operation to a caller of whose grants none is for its RPC: the role of another grant does not count.
   * @throws InfraError OPERATION_NOT_FOUND, NOT_GRANTED, ROLE_REQUIRED
   */
  assertCommandsVisible(call: Call, operation: Operation): void;
}

/**
 * @param services all services of the contract
 * @param ruleOf returns the rule of a method
 * @param visibilityOf returns what a caller may see
 */
export function createOperationAccess(
  services: readonly DescService[],
  ruleOf: (method: DescMethod) => MethodRule,
  visibilityOf: VisibilityOf,
): OperationAccess {
  const methods = new Map(
    services
      .flatMap((service): readonly DescMethod[] => service.methods)
      .map((method) => [methodPathOf(method), method]),
  );

  function isVisible(call: Call, { rpc, resource }: Operation): boolean {
    const [service = ""] = rpc.split("/");
    const { services, bounds } = visibilityOf(call);
    return services?.has(service) !== false && bounds?.covers({ services: [service], resource }) !== false;
  }

  function assertVisible(call: Call, operation: Operation): void {
    if (!isVisible(call, operation)) {
      throw operationNotFound(operation.id);
    }
  }

  function assertChangeable(call: Call, operation: Operation): void {
    assertVisible(call, operation);
    const method = methods.get(operation.rpc);
    if (method !== undefined) {
      const rule = ruleOf(method);
      assertAllowed(call.caller, method, rule);
      assertResourcesGranted({ caller: call.caller, method, rule }, [operation.resource]);
    } else if (call.caller.role !== "admin" || call.caller.grants !== undefined) {
      const message = `the operation was started by ${operation.rpc}, which this version of the gateway does not have: only an admin may change it`;
      throw new InfraError(rpcReasons.ROLE_REQUIRED, message);
    }
  }

  return {
    isVisible,
    assertVisible,
    assertChangeable,
    assertCommandsVisible(call, operation) {
      const assertAllowedTo = call.caller.grants === undefined ? assertVisible : assertChangeable;
      assertAllowedTo(call, operation);
    },
  };
}
