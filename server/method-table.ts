import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type MethodRule, methodPathOf } from "./rpc/method-rule.ts";

/** The domain of each service of the contract; a service that is missing here cannot be registered. */
const domainOfService: Readonly<Record<string, string>> = {
  "services.auth.AuthService": "auth",
  "stats.StatsService": "storage",
  "cnct.kaas.api.Cluster": "clusters",
  "proto.LVService": "volumes",
  "proto.VGService": "volumes",
  "operations.v1.OperationsService": "hypervisors",
  "v1alpha.PublicAPI": "pods",
  "hostplane.v1.SystemService": "system",
  "grpc.health.v1.Health": "system",
  "grpc.reflection.v1.ServerReflection": "system",
  "grpc.reflection.v1alpha.ServerReflection": "system",
};

const hostBoundDomains: ReadonlySet<string> = new Set(["volumes", "hypervisors", "pods"]);

/**
 * What differs from the default, which follows from `idempotency_level`: a method without side effects is a
 * viewer's, may be called by GET and shared between callers; any other is an operator's mutation.
 */
const exceptions: Readonly<Record<string, Partial<MethodRule>>> = {
  "services.auth.AuthService/Login": { role: "anyone", secrets: true },
  "services.auth.AuthService/Logout": { role: "viewer" },
  "services.auth.AuthService/CheckToken": { role: "anyone", secrets: true, get: false, cache: false },

  "cnct.kaas.api.Cluster/GetCluster": { role: "operator", secrets: true, get: false, cache: false },

  "proto.LVService/CreateLV": { secrets: true },
  "proto.LVService/CreateBackup": { secrets: true },
  "proto.VGService/Watch": { repeatable: true },

  // Image and pod manifests hold environment variables, and logs hold what programs print.
  "v1alpha.PublicAPI/ListPods": { role: "operator", secrets: true, get: false, cache: false },
  "v1alpha.PublicAPI/InspectPod": { role: "operator", secrets: true, get: false, cache: false },
  "v1alpha.PublicAPI/ListImages": { role: "operator", secrets: true, get: false, cache: false },
  "v1alpha.PublicAPI/InspectImage": { role: "operator", secrets: true, get: false, cache: false },
  "v1alpha.PublicAPI/GetLogs": { role: "operator", secrets: true, get: false, cache: false },

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
  const isUnary = method.methodKind === "unary";
  return {
    domain,
    role: isRead ? "viewer" : "operator",
    mutation: !isRead,
    get: isRead && isUnary,
    cache: isRead && isUnary,
    secrets: false,
    hostBound: hostBoundDomains.has(domain),
    repeatable: false,
    ...exceptions[methodPathOf(method)],
  };
}

/** A sentence for each listener that is restricted to services of which one or more do not exist. */
export function unknownServicesOf(
  listeners: readonly { readonly address: string; readonly services?: readonly string[] }[],
): string[] {
  const known = Object.keys(domainOfService);
  return listeners.flatMap(({ address, services = [] }) => {
    const unknown = services.filter((name) => !known.includes(name));
    return unknown.length === 0
      ? []
      : [`listen: ${address}: there is no service ${unknown.join(", ")} (there are: ${known.join(", ")})`];
  });
}
