import { type CallerRole, callerRoles } from "../../../rpc/access/caller-role.ts";
import { type Grant, isBounded } from "../../../rpc/access/grant.ts";
import { globFrom } from "../../../rpc/access/resource-pattern.ts";

/** Gives the members of a group a role, or grants in place of one. */
export interface GroupRule {
  /** Name of the group; `*` stands for any text. */
  readonly group: string;
  readonly role?: CallerRole | undefined;
  readonly grants?: readonly Grant[] | undefined;
}

/**
 * Returns all that the rules grant to a member of these groups; nothing if there is no rule for it. A role is a grant without
 * bounds. A rule for `*` applies to everyone, also to users without groups.
 */
export function grantsFromGroups(rules: readonly GroupRule[], groups: readonly string[]): readonly Grant[] {
  const given = rules
    .filter(({ group }) => group === "*" || groups.some(globFrom(group)))
    .flatMap(({ role, grants = [] }): readonly Grant[] => (role === undefined ? grants : [{ role }]));
  const whole = callerRoles.findLast((role) => given.some((grant) => grant.role === role && isWhole(grant)));
  const others = given.filter((grant) => whole === undefined || isHigher(grant.role, whole));
  return [...(whole === undefined ? [] : [{ role: whole }]), ...withoutRepeats(others)];
}

/** Reports whether a grant is a role for everything. */
function isWhole(grant: Grant): boolean {
  return grant.services === undefined && !isBounded(grant);
}

function isHigher(role: CallerRole, other: CallerRole): boolean {
  return callerRoles.indexOf(role) > callerRoles.indexOf(other);
}

function withoutRepeats(grants: readonly Grant[]): readonly Grant[] {
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()];
}
