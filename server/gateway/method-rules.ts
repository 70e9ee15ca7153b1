import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type MethodRule, methodPathOf, openRequestMaxBytes, type Role } from "../rpc/method-rule.ts";
import { hasSecretFields } from "../rpc/secret-fields.ts";

/** The domain of each service of the contract. A service that is missing here cannot be registered. */
const domainOfService: Readonly<Record<string, string>> = {
  "services.auth.AuthService": "auth",
  "stats.StatsService": "storage",
  "cnct.kaas.api.Cluster": "clusters",
  "proto.LVService": "volumes",
  "proto.VGService": "volumes",
  "operations.v1.OperationsService": "hypervisors",
  "v1alpha.PublicAPI": "pods",
  "hostplane.v1.UserService": "auth",
  "hostplane.v1.AuditService": "audit",
  "hostplane.v1.PlanService": "plan",
  "hostplane.v1.OperationService": "operations",
  "hostplane.v1.EventService": "events",
  "hostplane.v1.InventoryService": "inventory",
  "hostplane.v1.BackupService": "backups",
  "hostplane.v1.StoragePoolService": "hypervisors",
  "hostplane.v1.StorageService": "storage",
  "hostplane.v1.PodService": "pods",
  "hostplane.v1.ClusterService": "clusters",
  "hostplane.v1.SystemService": "system",
  "grpc.health.v1.Health": "system",
  "grpc.reflection.v1.ServerReflection": "system",
  "grpc.reflection.v1alpha.ServerReflection": "system",
};

/** Full names of all services of the contract. */
export const knownServices: readonly string[] = Object.keys(domainOfService);

/** Services that answer from the gateway's own store. */
export const storeServices: readonly string[] = [
  "services.auth.AuthService",
  "hostplane.v1.UserService",
  "hostplane.v1.AuditService",
  "hostplane.v1.OperationService",
  "hostplane.v1.EventService",
];

const hostBoundDomains: ReadonlySet<string> = new Set(["volumes", "hypervisors", "backups", "pods"]);

/** Services whose methods all need the same role. */
const roleOfService: Readonly<Record<string, Role>> = {
  "hostplane.v1.UserService": "admin",
  "hostplane.v1.AuditService": "admin",
};

/**
 * Exceptions to the default rule, which follows from `idempotency_level` and from the fields that the contract marks as secret. A
 * method without side effects needs the viewer role, may be called by GET, and its answers may be shared between callers. If it
 * returns secrets it needs the operator role, and neither GET nor sharing is allowed. Any other method is a mutation that needs
 * the operator role.
 */
const exceptions: Readonly<Record<string, Partial<MethodRule>>> = {
  "services.auth.AuthService/Login": { role: "anyone" },
  "services.auth.AuthService/Logout": { role: "viewer", ofEveryService: true },
  "services.auth.AuthService/CheckToken": { role: "anyone" },

  // Their answers depend on the caller.
  "hostplane.v1.UserService/GetCaller": { role: "viewer", ofEveryService: true, get: false, cache: false },
  "hostplane.v1.UserService/ChangePassword": { role: "viewer", ofEveryService: true },
  "hostplane.v1.UserService/ListUsers": { get: false, cache: false },
  "hostplane.v1.UserService/ListApiTokens": { get: false, cache: false },
  "hostplane.v1.AuditService/ListEvents": { get: false, cache: false },
  // Plan also requires the role of the method that is planned.
  "hostplane.v1.PlanService/Plan": { role: "viewer", ofEveryService: true },

  // Callers see the operations and events of the services that they may call.
  "hostplane.v1.OperationService/GetOperation": { ofEveryService: true, get: false, cache: false },
  "hostplane.v1.OperationService/ListOperations": { ofEveryService: true, get: false, cache: false },
  "hostplane.v1.OperationService/WatchOperation": { ofEveryService: true },
  "hostplane.v1.OperationService/ListCommands": {
    role: "operator",
    ofEveryService: true,
    get: false,
    cache: false,
  },
  // These also require the role and service of the RPC that began the operation.
  "hostplane.v1.OperationService/CancelOperation": { ofEveryService: true },
  "hostplane.v1.OperationService/RetryOperation": { ofEveryService: true },
  "hostplane.v1.EventService/Subscribe": { ofEveryService: true },
  "hostplane.v1.InventoryService/ListResources": { ofEveryService: true, get: false, cache: false },
  "hostplane.v1.InventoryService/WatchResources": { ofEveryService: true },
  // The first call of a page, for any user who has logged in there.
  "hostplane.v1.SystemService/GetInfo": { ofEveryService: true },
  "hostplane.v1.BackupService/DeleteBackup": { role: "admin" },

  "proto.VGService/Watch": { repeatable: true },

  "grpc.health.v1.Health/Check": { role: "anyone", mutation: false, get: false, cache: false },
  "grpc.health.v1.Health/List": { role: "anyone", mutation: false, get: false, cache: false },
  "grpc.health.v1.Health/Watch": { role: "anyone", mutation: false, repeatable: true },
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": { role: "anyone", mutation: false },
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": { role: "anyone", mutation: false },
};

/** Methods that have their own row, for the test that proves none of them is misspelt. */
export const exceptionalMethods: readonly string[] = Object.keys(exceptions);

/**
 * Returns the rule of an RPC.
 * @throws TypeError for a method of a service that the table does not contain
 */
export function methodRuleOf(method: DescMethod): MethodRule {
  const domain = domainOfService[method.parent.typeName];
  if (domain === undefined) {
    throw new TypeError(`${method.parent.typeName} is not in the method table`);
  }
  const isRead = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
  const secretAnswer = hasSecretFields(method.output);
  const secrets = secretAnswer || hasSecretFields(method.input);
  const isOpen = isRead && method.methodKind === "unary" && !secrets;
  const exception = exceptions[methodPathOf(method)];
  return {
    domain,
    role: roleOfService[method.parent.typeName] ?? (isRead && !secrets ? "viewer" : "operator"),
    mutation: !isRead,
    get: isOpen,
    cache: isOpen,
    secrets,
    secretAnswer,
    ofEveryService: false,
    hostBound: hostBoundDomains.has(domain),
    repeatable: false,
    maxRequestBytes: exception?.role === "anyone" ? openRequestMaxBytes : undefined,
    ...exception,
  };
}

/** Returns one sentence for each listener whose `services` name one that does not exist. */
export function unknownServicesOf(
  listeners: readonly { readonly address: string; readonly services?: readonly string[] }[],
): string[] {
  return listeners.flatMap(({ address, services = [] }) => {
    const unknown = services.filter((name) => !knownServices.includes(name));
    return unknown.length === 0
      ? []
      : [`listen: ${address}: unknown service ${unknown.join(", ")} (known: ${knownServices.join(", ")})`];
  });
}
