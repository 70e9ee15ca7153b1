import { InfraError } from "../../../adapters/host/infra-error.ts";
import { anonymous, type Caller } from "../../rpc/call/caller.ts";
import { hubCallerHeader } from "../../rpc/interceptors/known-headers.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { parseHubCaller } from "../caller/hub-caller.ts";
import type { Ceiling } from "./ceiling.ts";

/**
 * Finds the caller of a request on a hub's connection. The account ID begins with `fleet/`, so that it is none of this gateway's
 * own accounts.
 * @throws InfraError MALFORMED_REQUEST when the hub names no caller
 */
export type AuthenticateHub = (request: { header(name: string): string | undefined }) => Caller;

export function createAuthenticateHub(ceiling: Ceiling): AuthenticateHub {
  return (request) => {
    const named = parseHubCaller(request.header(hubCallerHeader) ?? "");
    if (named === undefined) {
      throw new InfraError(
        rpcReasons.MALFORMED_REQUEST,
        `${hubCallerHeader}: expected a caller, as a hub sends it`,
      );
    }
    const caller: Caller = {
      ...anonymous,
      actor: `${named.actor} via ${named.hub}`,
      accountId: named.accountId === "" ? "" : `fleet/${named.accountId}`,
      role: ceiling.limitRole(named.role),
      services: ceiling.limitServices(named.services),
      credential: "hub",
      ceiling,
      current: () => caller,
    };
    return caller;
  };
}
