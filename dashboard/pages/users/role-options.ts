import { Role } from "../../../gen/hostplane/v1/user_pb.ts";

const roles = [
  { role: Role.VIEWER, text: "viewer: sees everything except secrets" },
  { role: Role.OPERATOR, text: "operator: changes systems" },
  { role: Role.ADMIN, text: "admin: also manages users" },
] as const;

/** The roles to choose from, each with a description. */
export const roleOptions = roles.map(({ role, text }) => ({ value: String(role), text }));

/** Returns the chosen role. */
export function roleFromOption(value: string): Role {
  return roles.find(({ role }) => String(role) === value)?.role ?? Role.UNSPECIFIED;
}
