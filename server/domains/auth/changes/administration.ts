import type { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import { createStoredChange } from "../../../domain/stored-change.ts";
import type { ApiTokens } from "../tokens/api-tokens.ts";
import { apiTokenMessage, userMessage } from "../user-messages.ts";
import type { Users } from "../users.ts";
import { createCreateApiToken, createRevokeApiToken, createRotateSigningKey } from "./token-changes.ts";
import { createCreateUser, createDeleteUser, createSetPassword, createUpdateUser } from "./user-changes.ts";

/** Options of `createAdministration`. */
export interface AdministrationOptions {
  readonly users: Users;
  readonly apiTokens: ApiTokens;
  /** Replaces the signing key; returns the ID of the new one. */
  readonly rotateSigningKey: () => Promise<string>;
}

type AdministrationMethod =
  | "createUser"
  | "updateUser"
  | "deleteUser"
  | "setPassword"
  | "createApiToken"
  | "revokeApiToken"
  | "rotateSigningKey";

/**
 * The changes of hostplane.v1.UserService. ChangePassword is none of them, because a plan would reveal whether a password is
 * right without counting as a failed login.
 */
export type Administration = ChangesOf<typeof UserService, AdministrationMethod>;

/** Adds to each change the message that answers its call. */
export function createAdministration(options: AdministrationOptions): Administration {
  const { users, apiTokens, rotateSigningKey } = options;
  return {
    createUser: createStoredChange(createCreateUser(users), (user) => ({ user: userMessage(user) })),
    updateUser: createStoredChange(createUpdateUser(users), (user) => ({ user: userMessage(user) })),
    deleteUser: createStoredChange(createDeleteUser(users), () => ({})),
    setPassword: createStoredChange(createSetPassword(users), () => ({})),
    createApiToken: createStoredChange(createCreateApiToken(apiTokens), ({ token, record }) => ({
      token,
      apiToken: apiTokenMessage(record),
    })),
    revokeApiToken: createStoredChange(createRevokeApiToken(apiTokens), () => ({})),
    rotateSigningKey: createStoredChange(createRotateSigningKey(rotateSigningKey), (keyId) => ({ keyId })),
  };
}
