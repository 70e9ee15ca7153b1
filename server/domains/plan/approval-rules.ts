import type { DescMethod } from "@bufbuild/protobuf";
import { type CallerRole, callerRoles } from "../../rpc/access/caller-role.ts";
import { type Caller, type CallerKind, callerKindOf } from "../../rpc/call/caller.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { SavedMutation } from "./saved-mutation.ts";

/** An entry of `approvals.rules` of the configuration. */
export interface ApprovalRule {
  /** Full names of methods and services; absent: every change. */
  readonly methods?: readonly string[] | undefined;
  /** Only changes with a permanent loss. */
  readonly destroysData: boolean;
  readonly roles?: readonly CallerRole[] | undefined;
  readonly callers?: readonly CallerKind[] | undefined;
  readonly approvals: number;
  readonly withinMinutes: number;
}

/** What a change needs before it is made. */
export interface ApprovalRequirement {
  /** How many other people have to approve it; 0: none. */
  readonly approvals: number;
  /** How long after its proposal it can be approved and made; undefined if it needs no approval. */
  readonly withinMs: number | undefined;
}

/** The rules of the configuration. The first one that fits a change decides. */
export interface ApprovalRules {
  /** Reports whether some rule names the method, or all methods. */
  covers(method: DescMethod): boolean;
  /** Reports whether a call may need approvals, depending on its plan. */
  mayRequire(method: DescMethod, caller: Caller): boolean;
  requirementOf(
    method: DescMethod,
    caller: Caller,
    mutation: Pick<SavedMutation, "resource" | "changes" | "losses" | "steps">,
  ): ApprovalRequirement;
}

const none: ApprovalRequirement = { approvals: 0, withinMs: undefined };

/** @param rules of the configuration, in its order; without rules no change needs an approval */
export function createApprovalRules(rules: readonly ApprovalRule[]): ApprovalRules {
  function decide(
    method: DescMethod,
    caller: Caller,
    role: Role,
    destroysData: boolean,
  ): ApprovalRequirement {
    const rule = rules.find(
      (each) =>
        names(each, method) &&
        (destroysData || !each.destroysData) &&
        each.roles?.some((one) => one === role) !== false &&
        each.callers?.includes(callerKindOf(caller)) !== false,
    );
    return rule === undefined || rule.approvals === 0
      ? none
      : { approvals: rule.approvals, withinMs: rule.withinMinutes * 60_000 };
  }

  return {
    covers: (method) => rules.some((rule) => rule.approvals > 0 && names(rule, method)),
    mayRequire: (method, caller) =>
      rolesOf(caller).some((role) =>
        [true, false].some((destroysData) => decide(method, caller, role, destroysData).approvals > 0),
      ),
    requirementOf(method, caller, { resource, changes, losses, steps }) {
      if (changes.length === 0 && losses.length === 0 && steps.length === 0) {
        return none;
      }
      const covering = coveringRole(method, caller, resource);
      const roles = covering === undefined ? rolesOf(caller) : [covering];
      return roles
        .map((role) => decide(method, caller, role, losses.length > 0))
        .reduce((one, other) => (other.approvals > one.approvals ? other : one));
    },
  };
}

type Role = Caller["role"];

/** Roles that a caller may have for a change. */
function rolesOf({ role, grants }: Caller): readonly Role[] {
  return grants === undefined ? [role] : callerRoles;
}

/** Returns the highest role of a grant that covers a change; undefined without grants, or if none covers all of it. */
function coveringRole(method: DescMethod, { grants }: Caller, resource: string): Role {
  const methodPath = methodPathOf(method);
  return callerRoles.findLast(
    (role) => grants?.allowing({ methodPath, role, host: "here", resource }) !== undefined,
  );
}

function names({ methods }: ApprovalRule, method: DescMethod): boolean {
  return (
    methods === undefined ||
    methods.includes(methodPathOf(method)) ||
    methods.includes(method.parent.typeName)
  );
}

/**
 * Returns one sentence for each name in the rules that no change with a plan has.
 * @param methods all methods of the gateway, by their full names
 */
export function approvalMistakesOf(
  rules: readonly Pick<ApprovalRule, "methods">[],
  methods: ReadonlyMap<string, DescMethod>,
  isPlannable: (method: DescMethod) => boolean,
): string[] {
  return rules.flatMap(({ methods: named = [] }, index) =>
    named.flatMap((name, at) => {
      const found = [...methods.values()].filter(
        (method) => methodPathOf(method) === name || method.parent.typeName === name,
      );
      const key = `approvals.rules[${index}].methods[${at}]`;
      if (found.length === 0) {
        return `${key}: unknown method or service ${name}`;
      }
      return found.some(isPlannable)
        ? []
        : `${key}: ${name} cannot need approval, because it has no plan: it changes nothing, or its changes cannot be predicted`;
    }),
  );
}
