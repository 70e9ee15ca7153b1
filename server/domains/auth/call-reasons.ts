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

const ofProviders: readonly Reason[] = [
  authReasons.PROVIDER_NOT_FOUND,
  authReasons.PROVIDER_UNAVAILABLE,
  authReasons.LOGIN_REFUSED,
  hostReasons.BUSY,
];
const ofFinishedLogins: readonly Reason[] = [
  ...ofProviders,
  authReasons.LOGIN_NOT_BEGUN,
  authReasons.LOGIN_WITHOUT_ROLE,
  authReasons.LOGIN_NOT_CHECKABLE,
];

/** Reasons for which the methods of LoginService fail. */
export const loginMethodReasons: ReasonsByMethod = {
  BeginLogin: [...ofProviders, rpcReasons.ORIGIN_NOT_ALLOWED],
  FinishLogin: [...ofFinishedLogins, rpcReasons.ORIGIN_NOT_ALLOWED],
  BeginDeviceLogin: [...ofProviders, authReasons.LOGIN_NOT_CHECKABLE],
  FinishDeviceLogin: [...ofFinishedLogins, rpcReasons.LOGIN_PENDING],
};

/** Reasons for which the methods of UserService fail. */
export const userMethodReasons: ReasonsByMethod = {
  ChangePassword: [...ofPasswords, authReasons.USER_NOT_FOUND],
  CreateUser: [authReasons.USER_EXISTS, authReasons.CERTIFICATE_NAME_TAKEN, hostReasons.BUSY],
  UpdateUser: [
    authReasons.USER_NOT_FOUND,
    authReasons.USER_HAS_GRANTS,
    authReasons.USER_OF_PROVIDER,
    authReasons.LAST_ADMIN,
    authReasons.CERTIFICATE_NAME_TAKEN,
  ],
  DeleteUser: [authReasons.USER_NOT_FOUND, authReasons.LAST_ADMIN],
  SetPassword: [authReasons.USER_NOT_FOUND, authReasons.USER_OF_PROVIDER, hostReasons.BUSY],
  CreateApiToken: [authReasons.API_TOKEN_EXISTS],
  ExplainAccess: [authReasons.USER_NOT_FOUND, authReasons.API_TOKEN_NOT_FOUND],
  RevokeApiToken: [authReasons.API_TOKEN_NOT_FOUND],
};
