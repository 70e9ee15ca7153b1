import type { CallerRole } from "../access/caller-role.ts";
import type { Grants } from "../access/grants.ts";

/** How a caller was authenticated. */
export type CredentialKind =
  | "session"
  | "cookie"
  | "apiToken"
  | "certificate"
  | "listener"
  | "adminSocket"
  | "hub"
  | "none";

/** The caller of an RPC, as far as it is identified. */
export interface Caller {
  /** For people, the log and the audit log: `user/alice`, `token/ci`, `listener/unix:/run/x.sock`, `anonymous`. */
  readonly actor: string;
  /**
   * Stable and never reused: the key of limits, idempotency keys and the audit log. Empty without an account; the address is used
   * then.
   */
  readonly accountId: string;
  /** Undefined without a login. Of several grants: the highest. */
  readonly role: CallerRole | undefined;
  /** Full names of the services that the role is limited to; undefined if it is not limited. Of several grants: all of them. */
  readonly services: ReadonlySet<string> | undefined;
  /** Bounds of role and services: methods, hosts and resources. Undefined if there are none. */
  readonly grants?: Grants | undefined;
  readonly credential: CredentialKind;
  /** The `jti` of a session's token, which Logout revokes. */
  readonly sessionId: string | undefined;
  /** What the caller may not do although its role allows it; undefined if there is nothing. */
  readonly ceiling?: CallerCeiling | undefined;
  /** When the credential expires, in milliseconds since the epoch; undefined means never. */
  readonly expiresAtMs: number | undefined;
  /**
   * Returns the caller as of now, with its current role.
   * @throws InfraError UNAUTHENTICATED reasons once the credential is no longer accepted
   */
  current(): Caller;
}

/** Limits of a caller beside its role. */
export interface CallerCeiling {
  /** @param methodPath `package.Service/Method`. @throws InfraError PERMISSION_DENIED reasons */
  assertMethod(methodPath: string): void;
  /** @param resource the resource of a change, e.g. `volumeGroups/vg0/volumes/data`. @throws InfraError PERMISSION_DENIED reasons */
  assertResource(resource: string): void;
}

/** An unidentified caller, which every call begins with. */
export const anonymous: Caller = {
  actor: "anonymous",
  accountId: "",
  role: undefined,
  services: undefined,
  credential: "none",
  sessionId: undefined,
  expiresAtMs: undefined,
  current: () => anonymous,
};

/**
 * Kind of a caller. `person`: a user, however it has logged in. `token`: an API token. `program`: a caller without an account,
 * such as those of a listener with `auth: none`, or the admin socket.
 */
export type CallerKind = "person" | "token" | "program";

/** Returns the kind of a caller, which is the same through a hub: there the actor is `user/alice via hub-1`. */
export function callerKindOf({ actor, accountId }: Pick<Caller, "actor" | "accountId">): CallerKind {
  if (accountId !== "" && actor.startsWith("user/")) {
    return "person";
  }
  return accountId !== "" && actor.startsWith("token/") ? "token" : "program";
}
