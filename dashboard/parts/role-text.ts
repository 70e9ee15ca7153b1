import { Role } from "../../gen/hostplane/v1/user_pb.ts";

const texts: Readonly<Record<number, string>> = {
  [Role.UNSPECIFIED]: "no role",
  [Role.VIEWER]: "viewer",
  [Role.OPERATOR]: "operator",
  [Role.ADMIN]: "admin",
};

/** A role in a word; that of a newer gateway by its number. */
export function roleText(role: Role): string {
  return texts[role] ?? `role ${role}`;
}
