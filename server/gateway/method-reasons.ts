import type { Reason } from "../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { Manifest } from "../domain/define-domain.ts";
import { authDomain } from "../domains/auth/domain.ts";
import { authReasons } from "../domains/auth/reasons.ts";
import { backupsDomain } from "../domains/backups/domain.ts";
import { domains } from "../domains/domains.ts";
import { planDomain } from "../domains/plan/domain.ts";
import { planReasons } from "../domains/plan/reasons.ts";
import { fleetReasons } from "../fleet/reasons.ts";
import { type DocumentedMethod, takesIdempotencyKey } from "../rpc/openapi/documented-method.ts";
import type { DocumentedReasons } from "../rpc/openapi/error-table.ts";
import { rpcReasons } from "../rpc/reasons.ts";
import { storeReasons } from "../store/reasons.ts";
import { allReasons } from "./all-reasons.ts";

const ofEveryCall: readonly Reason[] = [
  rpcReasons.MALFORMED_REQUEST,
  hostReasons.INVALID_FIELD,
  rpcReasons.UNKNOWN_HEADER,
  rpcReasons.UNSUPPORTED_COMPRESSION,
  rpcReasons.COMPRESSION_NOT_NAMED,
  rpcReasons.REQUEST_CARDINALITY,
  rpcReasons.MESSAGE_TOO_LARGE,
  rpcReasons.SERVICE_NOT_ON_LISTENER,
  rpcReasons.HOST_NOT_ALLOWED,
  rpcReasons.ORIGIN_NOT_ALLOWED,
  rpcReasons.FORWARDED_NOT_ALLOWED,
  rpcReasons.CALLER_LIMIT,
  rpcReasons.DEADLINE,
  // A hub forwards calls, and a host has its own limits for them.
  fleetReasons.HOST_REQUIRED,
  fleetReasons.HOST_NAME_INVALID,
  fleetReasons.HOST_UNKNOWN,
  fleetReasons.HOST_UNREACHABLE,
  fleetReasons.NOT_ON_HOSTS,
  fleetReasons.BAD_HOST_ANSWER,
  fleetReasons.BEYOND_CEILING,
  hostReasons.CALLER_LEFT,
  hostReasons.SHUTTING_DOWN,
  hostReasons.INTERNAL,
];

const ofCredentials: readonly Reason[] = [
  rpcReasons.LOGIN_REQUIRED,
  authReasons.TOKEN_INVALID,
  authReasons.TOKEN_EXPIRED,
  authReasons.TOKEN_REVOKED,
  authReasons.CERTIFICATE_UNKNOWN,
];

/** A rule of the configuration may require that other people approve a change. */
const ofApprovals: readonly Reason[] = [
  planReasons.APPROVAL_REQUIRED,
  planReasons.PLAN_STALE,
  planReasons.PLAN_USED,
  planReasons.TOO_MANY_PLANS,
  storeReasons.RECORD_CHANGED,
];

const ofStore: readonly Reason[] = [storeReasons.STORE_UNAVAILABLE, storeReasons.STORE_DAMAGED];

/** The reasons that `/docs` and `/openapi.json` list, for all calls and for each method. */
export const documentedReasons: DocumentedReasons = {
  all: allReasons,
  ofEveryCall,
  ofMethod: (documented) => [
    ...reasonsByRule(documented),
    ...reasonsOfDomain(documented),
    ...reasonsByName(documented),
  ],
};

function reasonsByRule(documented: DocumentedMethod): readonly Reason[] {
  const { method, rule } = documented;
  const needsLogin = rule.role !== "anyone";
  return [
    ...(needsLogin ? ofCredentials : []),
    ...(needsLogin || rule.domain === authDomain.name ? ofStore : []),
    ...(needsLogin && rule.role !== "viewer" ? [rpcReasons.ROLE_REQUIRED] : []),
    ...(needsLogin && !rule.ofEveryService ? [rpcReasons.SERVICE_NOT_ALLOWED] : []),
    ...(needsLogin && method.methodKind !== "unary" ? [rpcReasons.ACCESS_CHANGED] : []),
    ...(rule.mutation ? [rpcReasons.UNKNOWN_FIELD] : []),
    ...(rule.mutation && needsLogin && rule.domain !== planDomain.name ? ofApprovals : []),
    ...(takesIdempotencyKey(documented)
      ? [rpcReasons.IDEMPOTENCY_KEY_REUSED, rpcReasons.IDEMPOTENCY_OUTCOME_UNKNOWN]
      : []),
    ...(rule.mutation && rule.secretAnswer ? [rpcReasons.IDEMPOTENCY_KEY_NOT_TAKEN] : []),
    ...(rule.idempotencyField === undefined
      ? []
      : [rpcReasons.IDEMPOTENCY_KEY_NOT_TAKEN, rpcReasons.IDEMPOTENCY_OUTCOME_UNKNOWN]),
    ...(rule.mutation && method.methodKind !== "unary" ? [rpcReasons.NOT_BUILT] : []),
  ];
}

function reasonsOfDomain({ rule }: DocumentedMethod): readonly Reason[] {
  const domain = domains.find(({ name }) => name === rule.domain);
  if (domain === planDomain) {
    // A plan is refused like the change that it plans.
    return [...readsOf(domain), ...domains.flatMap((one) => [...readsOf(one), ...changesOf(one)])];
  }
  return domain === undefined ? [] : [...readsOf(domain), ...(rule.mutation ? changesOf(domain) : [])];
}

function readsOf({ reasons }: Manifest): readonly Reason[] {
  return reasons?.every ?? [];
}

function changesOf(domain: Manifest): readonly Reason[] {
  return [
    ...(domain.reasons?.change ?? []),
    ...(domain === backupsDomain ? domains.flatMap(({ reasons }) => reasons?.ofItsBackups ?? []) : []),
  ];
}

function reasonsByName({ method }: DocumentedMethod): readonly Reason[] {
  return domains
    .flatMap(({ services }) => services)
    .filter(({ service }) => service.typeName === method.parent.typeName)
    .flatMap(({ reasons }) => reasons?.[method.name] ?? []);
}
