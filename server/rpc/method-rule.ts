import type { DescMethod } from "@bufbuild/protobuf";

/** Who may call a method. `anyone` needs no login. */
export type Role = "anyone" | "viewer" | "operator" | "admin";

/** What the gateway knows of a method beyond its messages. server/method-table.ts has one for every RPC. */
export interface MethodRule {
  /** The domain whose state decides whether the method can be served. */
  readonly domain: string;
  readonly role: Role;
  /** A mutation refuses unknown JSON fields, and a tool it started is never stopped. */
  readonly mutation: boolean;
  /** May be called by Connect GET. */
  readonly get: boolean;
  /** Its answer may be shared between callers and kept by caches. */
  readonly cache: boolean;
  /** Request or answer has fields that the contract marks as secret: never logged, never cached, never Connect GET. */
  readonly secrets: boolean;
  /** The answer has such fields: it is not kept, so that the method takes no `idempotency-key`. */
  readonly secretAnswer: boolean;
  /** Concerns the caller itself, and may be called whatever services the caller's role is limited to. */
  readonly ofEveryService: boolean;
  /** Speaks of one host's machine, so that with several gateways the call must name the host. */
  readonly hostBound: boolean;
  /**
   * A stream whose every message is the whole state, so that sending the last one again says nothing new.
   * Over HTTP/1.1, which has no PING, that keeps an idle stream alive.
   */
  readonly repeatable: boolean;
  /** The largest request in bytes, below `limits.maxMessageBytes`, which is the limit when this is absent. */
  readonly maxRequestBytes?: number | undefined;
}

/** Limit for methods that need no login: their requests are read before the caller is known. */
export const openRequestMaxBytes = 16_384;

/** The method's full name as in a path: `package.Service/Method`. */
export function methodPathOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}
