import { LoginService } from "../../../gen/hostplane/v1/login_pb.ts";
import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { authMethodReasons, loginMethodReasons, userMethodReasons } from "./call-reasons.ts";
import { authReasons } from "./reasons.ts";

/** Users, their sessions and API tokens. */
export const authDomain = defineGatewayDomain({
  name: "auth",
  services: [
    {
      service: AuthService,
      reasons: authMethodReasons,
      rules: {
        Login: { role: "anyone" },
        Logout: { role: "viewer", ofEveryService: true },
        CheckToken: { role: "anyone" },
      },
    },
    {
      service: LoginService,
      reasons: loginMethodReasons,
      rules: {
        // They need no login, so their requests are read before the caller is known.
        ListProviders: { role: "anyone", get: false, cache: false },
        BeginLogin: { role: "anyone", get: false, cache: false },
        FinishLogin: { role: "anyone" },
        BeginDeviceLogin: { role: "anyone" },
        FinishDeviceLogin: { role: "anyone" },
      },
    },
    {
      service: UserService,
      reasons: userMethodReasons,
      role: "admin",
      rules: {
        // Their answers depend on the caller.
        GetCaller: { role: "viewer", ofEveryService: true, get: false, cache: false },
        ListUsers: { get: false, cache: false },
        ListApiTokens: { get: false, cache: false },
        ExplainAccess: { get: false, cache: false },
        ChangePassword: { role: "viewer", ofEveryService: true },
      },
    },
  ],
  usesStore: true,
  isFleetWide: true,
  reasons: { tables: [authReasons] },
  async serve(context) {
    // The gateway creates it before the domains, since every call needs it.
    return { ...context.auth, backends: [] };
  },
});
