import { type CallerRole, callerRoles } from "../../../rpc/access/caller-role.ts";
import { globFrom } from "../../../rpc/access/resource-pattern.ts";

/** Gives the members of a group a role. */
export interface RoleRule {
  /** Name of the group; `*` stands for any text. */
  readonly group: string;
  readonly role: CallerRole;
}

/**
 * Returns the highest role that the rules give to a member of these groups; undefined if there is none. A rule for `*` applies to
 * everyone, also to users without groups.
 */
export function roleFromGroups(
  rules: readonly RoleRule[],
  groups: readonly string[],
): CallerRole | undefined {
  const given = rules.flatMap(({ group, role }) =>
    group === "*" || groups.some(globFrom(group)) ? [role] : [],
  );
  return callerRoles.findLast((role) => given.includes(role));
}
