import { type Grant, Role, RoleSchema, type User } from "../../../../gen/hostplane/v1/user_pb.ts";
import { enumText } from "../../../cli/table/enum-text.ts";
import { grantText } from "./grant-words.ts";

/** Returns the role, or the grants in its place. */
export function accessText(account: Pick<User, "role" | "grants"> | undefined): string {
  const { role: given = Role.UNSPECIFIED, grants = [] } = account ?? {};
  return grants.length === 0 ? enumText(RoleSchema, given) : grantsText(grants);
}

/** Returns the grants as the command line takes them, separated by semicolons. */
export function grantsText(grants: readonly Grant[]): string {
  return grants.map(grantText).join("; ");
}

/** Returns `all`, or the names. */
export function servicesText(services: readonly string[]): string {
  return services.length === 0 ? "all" : services.join(",");
}
