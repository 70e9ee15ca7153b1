import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import type { CallerRole } from "../rpc/call/caller.ts";

const roles: Readonly<Record<CallerRole, Role>> = {
  viewer: Role.VIEWER,
  operator: Role.OPERATOR,
  admin: Role.ADMIN,
};

/** Returns the API's enum value of a role. */
export function roleFromName(name: CallerRole): Role {
  return roles[name];
}

/** Returns the name of a role, as typed. */
export function nameOfRole(role: Role): string {
  return Object.entries(roles).find(([, number]) => number === role)?.[0] ?? "";
}
