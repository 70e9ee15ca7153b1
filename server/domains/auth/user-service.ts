import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { ExplainRequest } from "./access/explain-request.ts";
import type { Administration } from "./changes/administration.ts";
import type { ApiTokens } from "./tokens/api-tokens.ts";
import { apiTokenMessage, callerMessage, grantMessage, userMessage } from "./user-messages.ts";
import type { Users } from "./users.ts";

export interface UserServiceParts {
  readonly users: Users;
  readonly apiTokens: ApiTokens;
  readonly explain: ExplainRequest;
}

/** Creates hostplane.v1.UserService: users, API tokens, and the keys that sign sessions. */
export function createUserService(
  { users, apiTokens, explain }: UserServiceParts,
  administration: Administration,
): ServiceRegistration {
  return registerService(UserService, {
    async getCaller(_request, call) {
      return callerMessage(call.caller);
    },
    async listUsers() {
      return { users: (await users.list()).map(userMessage) };
    },
    async explainAccess(request) {
      const { isAllowed, explanation, reason, grant } = await explain(request);
      return {
        allowed: isAllowed,
        explanation,
        reason,
        ...(grant === undefined ? {} : { grant: grantMessage(grant) }),
      };
    },
    ...handlersOf(administration),
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
  });
}
