import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { describeGrant, type Grant, type GrantedHost } from "../../../rpc/access/grant.ts";
import { createGrants } from "../../../rpc/access/grants.ts";
import type { MethodAccess } from "../../../rpc/access/method-access.ts";
import { anonymous, type Caller } from "../../../rpc/call/caller.ts";
import { type MethodRule, methodPathOf } from "../../../rpc/call/method-rule.ts";
import { assertAllowed } from "../../../rpc/interceptors/authorization.ts";
import { notGranted } from "../../../rpc/interceptors/granted-resources.ts";
import { describeRole } from "../changes/describe-role.ts";
import type { AccountAccess } from "./account-grants.ts";

/** A method with its rule. */
export interface RuledMethod {
  readonly method: DescMethod;
  readonly rule: MethodRule;
}

/** An account whose access is explained. */
export interface ExplainedAccount extends AccountAccess {
  /** `user/alice` or `token/ci`. */
  readonly actor: string;
}

/** The call whose access is explained. */
export interface ExplainedUse extends RuledMethod {
  readonly access: MethodAccess | undefined;
  /** Empty: it is left open. */
  readonly resource: string;
  /** Undefined: this gateway itself. */
  readonly host: GrantedHost | undefined;
}

export interface Explanation {
  readonly isAllowed: boolean;
  readonly explanation: string;
  /** Empty if the call is allowed. */
  readonly reason: string;
  readonly grant: Grant | undefined;
}

/**
 * Explains whether an account may make a call, by the rules of the call itself.
 * @param here name of this gateway's host
 */
export function explainAccess(account: ExplainedAccount, use: ExplainedUse, here: string): Explanation {
  const grants = account.grants === null ? undefined : createGrants(account.grants, here);
  const services = account.services === null ? undefined : new Set(account.services);
  const caller: Caller = { ...anonymous, actor: account.actor, role: account.role, services, grants };
  const { method, rule, access, host = "here", resource } = use;
  const methodPath = methodPathOf(method);
  try {
    assertAllowed(caller, method, rule);
  } catch (error) {
    if (error instanceof InfraError) {
      return denied(error);
    }
    throw error;
  }
  if (rule.role === "anyone") {
    return allowed(`${methodPath} needs no login`, undefined);
  }
  if (grants === undefined) {
    return allowed(`${account.actor} is ${describeRole(account)}`, undefined);
  }
  if (access === "own") {
    return allowed(
      `${methodPath} shows and changes only what the grants of ${account.actor} cover`,
      undefined,
    );
  }
  const touched = access === undefined ? "all" : resource === "" ? undefined : resource;
  const grant = grants.allowing({ methodPath, role: rule.role, host, resource: touched });
  if (grant === undefined) {
    const { reason, message } = notGranted(caller, methodPath, touched ?? "any resource");
    return denied({ reason, message: host === "here" ? message : `${message} on host ${host.name}` });
  }
  return allowed(`${account.actor} has the grant: ${describeGrant(grant)}`, grant);
}

function allowed(explanation: string, grant: Grant | undefined): Explanation {
  return { isAllowed: true, explanation, reason: "", grant };
}

function denied({ reason, message }: Pick<InfraError, "reason" | "message">): Explanation {
  return { isAllowed: false, explanation: message, reason, grant: undefined };
}

/** Splits an actor. A name alone is a user's. @throws InfraError INVALID_FIELD */
export function parseActor(actor: string): { readonly kind: "user" | "token"; readonly name: string } {
  const [, kind = "user", name = ""] = /^(?:(user|token)\/)?([\w.@-]{1,100})$/.exec(actor) ?? [];
  if (name === "") {
    throw invalidField("actor", "expected user/NAME or token/NAME");
  }
  return { kind: kind === "token" ? "token" : "user", name };
}
