import { createHash, randomBytes } from "node:crypto";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { authReasons } from "../reasons.ts";
import type { Session } from "./logins.ts";

/** Links that log in once. They exist only in memory, so a restart ends them. */
export interface LoginLinks {
  /** Creates the code of a link that logs a user in. */
  create(userName: string): string;
  /**
   * Uses a code up and starts a session of its user.
   * @returns undefined if the code is unknown or was used, or if the user was removed meanwhile
   * @throws InfraError STORE_UNAVAILABLE
   */
  redeem(code: string): Promise<Session | undefined>;
}

/** @param beginSession starts a session without a password */
export function createLoginLinks(beginSession: (userName: string) => Promise<Session>): LoginLinks {
  // Looked up by hash, so that the time of a lookup says nothing about the codes.
  const userNames = new Map<string, string>();
  return {
    create(userName) {
      const code = randomBytes(18).toString("base64url");
      userNames.set(hashOf(code), userName);
      return code;
    },
    async redeem(code) {
      const hash = hashOf(code);
      const userName = userNames.get(hash);
      if (userName === undefined) {
        return undefined;
      }
      userNames.delete(hash);
      try {
        return await beginSession(userName);
      } catch (error) {
        if (hasReason(error, authReasons.USER_NOT_FOUND)) {
          return undefined;
        }
        throw error;
      }
    },
  };
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("base64");
}
