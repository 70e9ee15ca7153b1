import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { anonymous } from "../../rpc/call/caller.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { Logins } from "./sessions/logins.ts";
import { clearedSessionCookies, sessionCookie, wantsSessionCookie } from "./sessions/session-cookie.ts";

/** Response header of Logout: the URL at which the browser also ends its session at the identity provider. */
const endSessionHeader = "hostplane-end-session-url";

/** Creates services.auth.AuthService: sessions of users. */
export function createAuthService(logins: Logins): ServiceRegistration {
  return registerService(AuthService, {
    async login({ username, password }, call) {
      const { address, access } = call.peer;
      const isCookie = wantsSessionCookie(call);
      const attempt = { name: username, password, address, isThrottled: access !== "adminSocket" };
      const { token, accountId, expiresAtMs } = await logins.logIn(attempt, call.signal);
      // For the log and the audit log; the call's permissions do not change.
      const credential = isCookie ? "cookie" : "session";
      call.identify({ ...anonymous, actor: `user/${username}`, accountId, credential });
      if (isCookie) {
        call.setHeader("set-cookie", sessionCookie(token, expiresAtMs - Date.now(), call));
      }
      return {
        // The cookie keeps the token away from scripts, so the response must not contain it.
        token: isCookie ? "" : token,
        expires: { timestamp: timestampFromMs(expiresAtMs) },
        accountId,
      };
    },

    async logout(_request, call) {
      const ended = await logins.logOut(call.caller);
      if (call.caller.credential === "cookie") {
        for (const cleared of clearedSessionCookies(call)) {
          call.appendHeader("set-cookie", cleared);
        }
      }
      if (ended?.endSessionUrl !== undefined) {
        call.setHeader(endSessionHeader, ended.endSessionUrl);
      }
      return { success: ended !== undefined };
    },

    async checkToken({ token }) {
      return { success: await logins.isAccepted(token) };
    },
  });
}
