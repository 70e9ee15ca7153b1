import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import type { ServiceManifest } from "../domain/define-domain.ts";
import { groupRuleMistakesOf } from "../domains/auth/providers/group-rule-mistakes.ts";
import { domains } from "../domains/domains.ts";
import { approvalMistakesOf } from "../domains/plan/approval-rules.ts";
import { methodsByPath } from "../domains/plan/plan-call.ts";
import { type MethodRule, methodPathOf, openRequestMaxBytes } from "../rpc/call/method-rule.ts";
import { hasSecretFields } from "../rpc/call/secret-fields.ts";
import type { Config } from "./config/schema.ts";

interface KnownService extends ServiceManifest {
  readonly domain: string;
  readonly isHostBound: boolean;
  readonly isFleetWide: boolean;
}

const known: ReadonlyMap<string, KnownService> = new Map(
  domains.flatMap(({ name, services, isHostBound = false, isFleetWide = false }) =>
    services.map(
      (service) =>
        [service.service.typeName, { ...service, domain: name, isHostBound, isFleetWide }] as const,
    ),
  ),
);

/** Full names of all services of the contract. */
export const knownServices: readonly string[] = [...known.keys()];

/** Services that answer from the gateway's own store. */
export const storeServices: readonly string[] = domains.flatMap(({ usesStore, services }) =>
  usesStore === true ? services.map(({ service }) => service.typeName) : [],
);

/**
 * Returns the rule of an RPC. The default follows from `idempotency_level` and from the fields that the contract marks as secret. A
 * method without side effects needs the viewer role, may be called by GET, and its answers may be shared between callers. If it
 * returns secrets it needs the operator role, and neither GET nor sharing is allowed. Any other method is a mutation that needs
 * the operator role.
 * @throws TypeError for a method of a service that no domain has
 */
export function methodRuleOf(method: DescMethod): MethodRule {
  const service = known.get(method.parent.typeName);
  if (service === undefined) {
    throw new TypeError(`${method.parent.typeName} belongs to no domain`);
  }
  const isRead = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
  const secretAnswer = hasSecretFields(method.output);
  const secrets = secretAnswer || hasSecretFields(method.input);
  const isOpen = isRead && method.methodKind === "unary" && !secrets;
  const exception = service.rules?.[method.name];
  return {
    domain: service.domain,
    role: service.role ?? (isRead && !secrets ? "viewer" : "operator"),
    mutation: !isRead,
    get: isOpen,
    cache: isOpen,
    secrets,
    secretAnswer,
    ofEveryService: false,
    hostBound: service.isHostBound,
    fleetWide: service.isFleetWide,
    repeatable: false,
    maxRequestBytes: exception?.role === "anyone" ? openRequestMaxBytes : undefined,
    ...exception,
  };
}

/** Returns the rule of a method; undefined if the contract does not have it. @param path `package.Service/Method` */
export function ruleOfPath(path: string): MethodRule | undefined {
  const [typeName = "", name] = path.split("/");
  const method = known.get(typeName)?.service.methods.find((each) => each.name === name);
  return method && methodRuleOf(method);
}

/** Returns all methods of the contract with their rules. */
export function knownMethods(): readonly { readonly method: DescMethod; readonly rule: MethodRule }[] {
  return [...known.values()].flatMap(({ service }) =>
    service.methods.map((method) => ({ method, rule: methodRuleOf(method) })),
  );
}

/** Returns one sentence for each name in `approvals.rules` that is not a change of the contract. */
export function unknownChangesOf({ rules }: Config["approvals"]): string[] {
  const methods = methodsByPath([...known.values()].map(({ service }) => service));
  return approvalMistakesOf(rules, methods, (method) => methodRuleOf(method).mutation);
}

/** Returns one sentence for each rule of an identity provider's groups that grants what does not exist, or cannot be granted. */
export function unknownGrantsOf({ providers }: Pick<Config["auth"], "providers">): string[] {
  const methodPaths = knownMethods().map(({ method }) => methodPathOf(method));
  return groupRuleMistakesOf(providers, { serviceNames: knownServices, methodPaths });
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
