import { Role } from "../../../gen/hostplane/v1/user_pb.ts";

const texts: Readonly<Record<number, string>> = {
  [Role.UNSPECIFIED]: "no role",
  [Role.VIEWER]: "viewer",
  [Role.OPERATOR]: "operator",
  [Role.ADMIN]: "admin",
};

/** Returns the name of a role; the number for a role of a newer gateway. */
export function roleText(role: Role): string {
  return texts[role] ?? `role ${role}`;
}
