import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type MethodRule, methodPathOf, openRequestMaxBytes, type Role } from "./rpc/method-rule.ts";
import { hasSecretFields } from "./rpc/secret-fields.ts";

/** The domain of each service of the contract; a service that is missing here cannot be registered. */
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

/** Those that answer from the gateway's own store. */
export const storeServices: readonly string[] = [
  "services.auth.AuthService",
  "hostplane.v1.UserService",
  "hostplane.v1.AuditService",
  "hostplane.v1.OperationService",
  "hostplane.v1.EventService",
];

const hostBoundDomains: ReadonlySet<string> = new Set(["volumes", "hypervisors", "backups", "pods"]);

/** Services that are one role's as a whole. */
const roleOfService: Readonly<Record<string, Role>> = {
  "hostplane.v1.UserService": "admin",
  "hostplane.v1.AuditService": "admin",
};

/**
 * What differs from the default, which follows from `idempotency_level` and from the fields that the contract marks
 * as secret: a method without side effects is a viewer's, may be called by GET and shared between callers; if it
 * tells secrets it is an operator's and neither; any other is an operator's mutation.
 */
const exceptions: Readonly<Record<string, Partial<MethodRule>>> = {
  "services.auth.AuthService/Login": { role: "anyone" },
  "services.auth.AuthService/Logout": { role: "viewer", ofEveryService: true },
  "services.auth.AuthService/CheckToken": { role: "anyone" },

  // What they tell depends on who asks.
  "hostplane.v1.UserService/GetCaller": { role: "viewer", ofEveryService: true, get: false, cache: false },
  "hostplane.v1.UserService/ChangePassword": { role: "viewer", ofEveryService: true },
  "hostplane.v1.UserService/ListUsers": { get: false, cache: false },
  "hostplane.v1.UserService/ListApiTokens": { get: false, cache: false },
  "hostplane.v1.AuditService/ListEvents": { get: false, cache: false },
  // Besides, it asks for the role of the method that is planned.
  "hostplane.v1.PlanService/Plan": { role: "viewer", ofEveryService: true },

  // A caller is told of the operations and events of the services that it may call.
  "hostplane.v1.OperationService/GetOperation": { ofEveryService: true, get: false, cache: false },
  "hostplane.v1.OperationService/ListOperations": { ofEveryService: true, get: false, cache: false },
  "hostplane.v1.OperationService/WatchOperation": { ofEveryService: true },
  "hostplane.v1.OperationService/ListCommands": {
    role: "operator",
    ofEveryService: true,
    get: false,
    cache: false,
  },
  // Besides, they ask for the role and service of the RPC that began the operation.
  "hostplane.v1.OperationService/CancelOperation": { ofEveryService: true },
  "hostplane.v1.OperationService/RetryOperation": { ofEveryService: true },
  "hostplane.v1.EventService/Subscribe": { ofEveryService: true },
  // What a page asks first, whoever has logged in there.
  "hostplane.v1.SystemService/GetInfo": { ofEveryService: true },
  "hostplane.v1.BackupService/DeleteBackup": { role: "admin" },

  "proto.VGService/Watch": { repeatable: true },

  "grpc.health.v1.Health/Check": { role: "anyone", mutation: false, get: false, cache: false },
  "grpc.health.v1.Health/List": { role: "anyone", mutation: false, get: false, cache: false },
  "grpc.health.v1.Health/Watch": { role: "anyone", mutation: false, repeatable: true },
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": { role: "anyone", mutation: false },
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": { role: "anyone", mutation: false },
};

/** The methods that have a row of their own, for the test that proves none of them is misspelt. */
export const exceptionalMethods: readonly string[] = Object.keys(exceptions);

/**
 * The rule of an RPC.
 * @throws TypeError for a method of a service that the table does not know
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

/** A sentence for each listener that is restricted to services of which one or more do not exist. */
export function unknownServicesOf(
  listeners: readonly { readonly address: string; readonly services?: readonly string[] }[],
): string[] {
  return listeners.flatMap(({ address, services = [] }) => {
    const unknown = services.filter((name) => !knownServices.includes(name));
    return unknown.length === 0
      ? []
      : [
          `listen: ${address}: there is no service ${unknown.join(", ")} (there are: ${knownServices.join(", ")})`,
        ];
  });
}
