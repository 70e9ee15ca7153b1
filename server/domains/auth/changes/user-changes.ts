import type {
  CreateUserRequest,
  DeleteUserRequest,
  SetPasswordRequest,
  UpdateUserRequest,
} from "../../../../gen/hostplane/v1/user_pb.ts";
import type { StoredChange } from "../../../domain/stored-change.ts";
import type { PlanFact } from "../../../operations/mutation.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import type { UserRecord } from "../store/user-record.ts";
import { newUserFrom, userChangeFrom } from "../user-messages.ts";
import type { RequestedUser, RequestedUserChange, Users } from "../users.ts";
import { describeRole } from "./describe-role.ts";

interface NamedChange {
  readonly name: string;
  readonly change: RequestedUserChange;
}

/** users.create: adds a user. */
export function createCreateUser(users: Users): StoredChange<CreateUserRequest, RequestedUser, UserRecord> {
  return {
    kind: "users.create",
    resourceOf: userResource,
    parse: newUserFrom,
    apply: users.create,
    describe: (_spec, user) => ({ changes: [`user ${user.name} is created: ${describeAccess(user)}`] }),
  };
}

/** users.update: changes what a user may do, or how the user logs in. */
export function createUpdateUser(users: Users): StoredChange<UpdateUserRequest, NamedChange, UserRecord> {
  return {
    kind: "users.update",
    resourceOf: userResource,
    parse: (request) => ({ name: request.name, change: userChangeFrom(request) }),
    apply: ({ name, change }, how) => users.update(name, change, how),
    describe: (_spec, user) => ({
      changes: [`user ${user.name} is changed to ${describeAccess(user)}`],
      facts: factsOfUser(user),
    }),
  };
}

/** users.delete: removes a user and ends its sessions. */
export function createDeleteUser(users: Users): StoredChange<DeleteUserRequest, string, UserRecord> {
  return {
    kind: "users.delete",
    resourceOf: userResource,
    parse: ({ name }) => name,
    apply: users.remove,
    describe: (name, user) => ({
      changes: [`user ${name} is deleted`],
      facts: factsOfUser(user),
      losses: [`all sessions of ${name}, and the account: a later user of this name is a different account`],
    }),
  };
}

/** users.setPassword: sets a password and ends the user's sessions. */
export function createSetPassword(
  users: Users,
): StoredChange<SetPasswordRequest, SetPasswordRequest, UserRecord> {
  return {
    kind: "users.setPassword",
    resourceOf: userResource,
    parse: (request) => request,
    apply: ({ name, password }, how) => users.setPassword(name, password, how),
    describe: ({ name }, user) => ({
      changes: [`the password of ${name} is changed`],
      facts: factsOfUser(user),
      losses: [`all sessions of ${name}, and the current password`],
    }),
  };
}

/** Length of the longest name of an identity provider's user. */
const maxNameLength = 96;

/** Returns the resource of a user for the log, the audit log and plans. Overlong invalid names are truncated. */
function userResource({ name }: { readonly name: string }): string {
  return `users/${name.slice(0, maxNameLength)}`;
}

/** Returns the facts that a change of an existing user is based on. */
function factsOfUser(user: UserRecord): PlanFact[] {
  return factsOf(userResource(user), { id: user.id, access: describeAccess(user) });
}

function describeAccess(user: UserRecord): string {
  const by = [...(user.hasPassword ? ["password"] : []), ...user.certificateNames];
  return `${describeRole(user)}, login by ${by.join(", ")}`;
}
