/** Roles in ascending order; each includes the permissions of those before it. */
export const callerRoles = ["viewer", "operator", "admin"] as const;

export type CallerRole = (typeof callerRoles)[number];

/** Reports whether a role includes the permissions of another one; `anyone` needs none. */
export function includesRole(role: CallerRole, needed: CallerRole | "anyone"): boolean {
  return needed === "anyone" || callerRoles.indexOf(role) >= callerRoles.indexOf(needed);
}
