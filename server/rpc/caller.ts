/** What a caller may be allowed; each role may do what those before it may. */
export const callerRoles = ["viewer", "operator", "admin"] as const;

export type CallerRole = (typeof callerRoles)[number];

/** How a caller has shown who it is. */
export type CredentialKind =
  | "session"
  | "cookie"
  | "apiToken"
  | "certificate"
  | "listener"
  | "adminSocket"
  | "none";

/** Who makes a call, as far as it has shown. */
export interface Caller {
  /** For people, the log and the audit log: `user/alice`, `token/ci`, `listener/unix:/run/x.sock`, `anonymous`. */
  readonly actor: string;
  /**
   * Stable and never given to another: what limits, idempotency keys and the audit log go by. Empty when there is
   * no account, then the address takes its place.
   */
  readonly accountId: string;
  /** Undefined when nobody is logged in. */
  readonly role: CallerRole | undefined;
  /** Full names of the services the role is limited to; undefined when to none. */
  readonly services: ReadonlySet<string> | undefined;
  readonly credential: CredentialKind;
  /** The `jti` of a session's token, which Logout revokes. */
  readonly sessionId: string | undefined;
  /** Milliseconds since the epoch after which the credential is not accepted; undefined for never. */
  readonly expiresAtMs: number | undefined;
  /**
   * The caller as of now, with today's role.
   * @throws InfraError UNAUTHENTICATED reasons once the credential is accepted no more
   */
  current(): Caller;
}

/** Nobody: what every call begins as. */
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
