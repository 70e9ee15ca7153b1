import { LoginService } from "../../../../gen/hostplane/v1/login_pb.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { type AccessRegistration, registerAccess } from "../../../rpc/access/method-access.ts";

/** What the calls about accounts concern: the caller itself, except for administration, which needs an unlimited admin. */
export const authMethodAccess: readonly AccessRegistration[] = [
  registerAccess(AuthService, { login: "own", logout: "own", checkToken: "own" }),
  registerAccess(LoginService, {
    listProviders: "own",
    beginLogin: "own",
    finishLogin: "own",
    beginDeviceLogin: "own",
    finishDeviceLogin: "own",
  }),
  registerAccess(UserService, { getCaller: "own", changePassword: "own" }),
];
