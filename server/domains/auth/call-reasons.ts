import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { authReasons } from "./reasons.ts";

type ReasonsByMethod = Readonly<Record<string, readonly Reason[]>>;

const ofPasswords: readonly Reason[] = [
  authReasons.INVALID_CREDENTIALS,
  rpcReasons.TOO_MANY_LOGINS,
  hostReasons.BUSY,
];

/** Reasons for which the methods of AuthService fail. */
export const authMethodReasons: ReasonsByMethod = { Login: ofPasswords };

/** Reasons for which the methods of UserService fail. */
export const userMethodReasons: ReasonsByMethod = {
  ChangePassword: [...ofPasswords, authReasons.USER_NOT_FOUND],
  CreateUser: [authReasons.USER_EXISTS, authReasons.CERTIFICATE_NAME_TAKEN, hostReasons.BUSY],
  UpdateUser: [
    authReasons.USER_NOT_FOUND,
    authReasons.USER_HAS_GRANTS,
    authReasons.LAST_ADMIN,
    authReasons.CERTIFICATE_NAME_TAKEN,
  ],
  DeleteUser: [authReasons.USER_NOT_FOUND, authReasons.LAST_ADMIN],
  SetPassword: [authReasons.USER_NOT_FOUND, hostReasons.BUSY],
  CreateApiToken: [authReasons.API_TOKEN_EXISTS],
  ExplainAccess: [authReasons.USER_NOT_FOUND, authReasons.API_TOKEN_NOT_FOUND],
  RevokeApiToken: [authReasons.API_TOKEN_NOT_FOUND],
};
