import { type CallerRole, callerRoles } from "../../../rpc/access/caller-role.ts";

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
    group === "*" || groups.some((one) => matches(group, one)) ? [role] : [],
  );
  return callerRoles.findLast((role) => given.includes(role));
}

/** Matches without backtracking, because the groups come from outside. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) {
    return text === pattern;
  }
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) {
    return false;
  }
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) {
      return false;
    }
    at = found + part.length;
  }
  return true;
}
