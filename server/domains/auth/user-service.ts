import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { ApiTokens } from "./api-tokens.ts";
import {
  apiTokenMessage,
  callerMessage,
  userMessage,
  wantedApiTokenFrom,
  wantedUserChangeFrom,
  wantedUserFrom,
} from "./user-messages.ts";
import type { Users } from "./users.ts";

/** Options of `createUserService`. */
export interface UserServiceOptions {
  readonly users: Users;
  readonly apiTokens: ApiTokens;
  /** Replaces the signing key; returns the ID of the new one. */
  readonly rotateSigningKey: () => Promise<string>;
}

/** Creates hostplane.v1.UserService: users, API tokens, and the keys that sign sessions. */
export function createUserService(options: UserServiceOptions): ServiceRegistration {
  const { users, apiTokens, rotateSigningKey } = options;
  return registerService(UserService, {
    async getCaller(_request, call) {
      return callerMessage(call.caller);
    },
    async listUsers() {
      return { users: (await users.list()).map(userMessage) };
    },
    async createUser(request, call) {
      call.noteResource(userResource(request.name));
      return { user: userMessage(await users.create(wantedUserFrom(request))) };
    },
    async updateUser(request, call) {
      call.noteResource(userResource(request.name));
      return { user: userMessage(await users.update(request.name, wantedUserChangeFrom(request))) };
    },
    async deleteUser({ name }, call) {
      call.noteResource(userResource(name));
      await users.remove(name);
      return {};
    },
    async setPassword({ name, password }, call) {
      call.noteResource(userResource(name));
      await users.setPassword(name, password);
      return {};
    },
    async changePassword({ currentPassword, newPassword }, call) {
      const passwords = { current: currentPassword, next: newPassword };
      // A user's actor and resource differ only in the plural: `user/name`, `users/name`.
      call.noteResource(call.caller.actor.replace(/^user\//, "users/"));
      await users.changePassword(call.caller, passwords, call.peer.address);
      return {};
    },
    async listApiTokens() {
      return { tokens: (await apiTokens.list()).map(apiTokenMessage) };
    },
    async createApiToken(request, call) {
      call.noteResource(apiTokenResource(request.name));
      const { token, record } = await apiTokens.create(wantedApiTokenFrom(request, call.caller.actor));
      return { token, apiToken: apiTokenMessage(record) };
    },
    async revokeApiToken({ name }, call) {
      call.noteResource(apiTokenResource(name));
      await apiTokens.revoke(name);
      return {};
    },
    async rotateSigningKey(_request, call) {
      call.noteResource("signingKeys");
      return { keyId: await rotateSigningKey() };
    },
  });
}

/** Returns the resource of a user for the log, the audit log and plans. Overlong invalid names are truncated. */
export function userResource(name: string): string {
  return `users/${name.slice(0, 63)}`;
}

/** Returns the resource of a token for the log, the audit log and plans. Overlong invalid names are truncated. */
export function apiTokenResource(name: string): string {
  return `apiTokens/${name.slice(0, 63)}`;
}
