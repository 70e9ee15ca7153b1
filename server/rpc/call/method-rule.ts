import type { DescMethod } from "@bufbuild/protobuf";

/** Role that a method requires. `anyone` needs no login. */
export type Role = "anyone" | "viewer" | "operator" | "admin";

/** Properties of a method besides its messages. server/gateway/method-rules.ts has the rule of every RPC. */
export interface MethodRule {
  /** The domain whose state decides whether the method can be served. */
  readonly domain: string;
  readonly role: Role;
  /** A mutation refuses unknown JSON fields, and a tool that it started is never stopped. */
  readonly mutation: boolean;
  /** May be called by Connect GET. */
  readonly get: boolean;
  /** Its answer may be shared between callers and cached. */
  readonly cache: boolean;
  /** Its request or answer has fields that the contract marks as secret: never logged, never cached, never Connect GET. */
  readonly secrets: boolean;
  /** Its answer has such fields: it is not stored, so the method does not support `idempotency-key`. */
  readonly secretAnswer: boolean;
  /** Field of the request that is the idempotency key of each call, by its name in the contract; absent: the header is. */
  readonly idempotencyField?: string | undefined;
  /** Concerns the caller itself, and may be called whatever services the caller's role is limited to. */
  readonly ofEveryService: boolean;
  /** Concerns the machine of one host, so with several gateways the call must name the host. */
  readonly hostBound: boolean;
  /** Belongs to the whole fleet: a hub serves it itself, and the call must not name a host. */
  readonly fleetWide: boolean;
  /**
   * A stream whose every message is the whole state, so repeating the last one adds nothing. Over HTTP/1.1, which has no PING,
   * repeating keeps an idle stream alive.
   */
  readonly repeatable: boolean;
  /** The largest request in bytes, below `limits.maxMessageBytes`; absent: `limits.maxMessageBytes`. */
  readonly maxRequestBytes?: number | undefined;
}

/** Limit for methods that need no login: their requests are read before the caller is known. */
export const openRequestMaxBytes = 16_384;

/** Returns the method's full name as in a path: `package.Service/Method`. */
export function methodPathOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}
