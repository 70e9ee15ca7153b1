import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import type { UserRecord } from "./store/user-record.ts";
import { wantedApiTokenFrom, wantedUserChangeFrom, wantedUserFrom } from "./user-messages.ts";
import { apiTokenResource, type UserServiceOptions, userResource } from "./user-service.ts";

/**
 * Creates the planners of hostplane.v1.UserService. ChangePassword has none, because a plan would reveal whether a password is
 * right without counting as a failed login.
 */
export function createUserPlanners({
  users,
  apiTokens,
}: Pick<UserServiceOptions, "users" | "apiTokens">): PlannerRegistration {
  return registerPlanners(UserService, {
    async createUser(request) {
      const wanted = wantedUserFrom(request);
      const user = await users.plan.create(wanted);
      return describe({
        kind: "users.create",
        resource: userResource(user.name),
        changes: [`user ${user.name} is created: ${accessOf(user)}`],
      });
    },
    async updateUser(request) {
      const wanted = wantedUserChangeFrom(request);
      const user = await users.plan.update(request.name, wanted);
      return describe({
        kind: "users.update",
        resource: userResource(user.name),
        changes: [`user ${user.name} is changed to ${accessOf(user)}`],
      });
    },
    async deleteUser({ name }) {
      await users.plan.remove(name);
      return describe({
        kind: "users.delete",
        resource: userResource(name),
        changes: [`user ${name} is deleted`],
        losses: [
          `all sessions of ${name}, and the account: a later user of this name is a different account`,
        ],
      });
    },
    async setPassword({ name, password }) {
      await users.plan.setPassword(name, password);
      return describe({
        kind: "users.setPassword",
        resource: userResource(name),
        changes: [`the password of ${name} is changed`],
        losses: [`all sessions of ${name}, and the current password`],
      });
    },
    async createApiToken(request) {
      const wanted = wantedApiTokenFrom(request, "");
      const token = await apiTokens.plan.create(wanted);
      const end =
        token.expiresAtMs === null
          ? "without expiry"
          : `valid until ${new Date(token.expiresAtMs).toISOString()}`;
      return describe({
        kind: "apiTokens.create",
        resource: apiTokenResource(token.name),
        changes: [`API token ${token.name} is created, ${end}: ${roleOf(token)}`],
      });
    },
    async revokeApiToken({ name }) {
      await apiTokens.plan.revoke(name);
      return describe({
        kind: "apiTokens.revoke",
        resource: apiTokenResource(name),
        changes: [`API token ${name} is revoked`],
        losses: [`the token itself: a later token of the same name is a different one`],
      });
    },
    async rotateSigningKey() {
      return describe({
        kind: "signingKeys.rotate",
        resource: "signingKeys",
        changes: ["new sessions are signed with a new key; existing sessions stay valid until they expire"],
      });
    },
  });
}

function accessOf(user: UserRecord): string {
  const by = [...(user.hasPassword ? ["password"] : []), ...user.certificateNames];
  return `${roleOf(user)}, login by ${by.join(", ")}`;
}

function roleOf({ role, services }: Pick<UserRecord, "role" | "services">): string {
  return `${role} of ${services === null ? "all services" : services.join(", ")}`;
}

/** Builds the plan of a change to the store: one step, in one transaction. */
function describe(facts: {
  readonly kind: string;
  readonly resource: string;
  readonly changes: readonly string[];
  readonly losses?: readonly string[];
}): PlannedMutation {
  const { kind, resource, changes, losses = [] } = facts;
  const step = { name: kind, command: [] };
  return { kind, resource, backend: "store", plan: { changes, losses }, steps: [step], pointOfNoReturn: 0 };
}
