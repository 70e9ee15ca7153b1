import type { RadosObject, RadosOptions, RadosRefusal, RadosReply } from "./librados.ts";

/** What the gateway asks its worker for. Plain JSON, by Node's own channel between processes. */
export interface RadosRequest {
  /** Whose connection is used; it is made when it is first needed. */
  readonly as: RadosOptions;
  readonly ask:
    | { readonly target: "mon" | "mgr"; readonly command: string }
    /** `pg dump`, of which only what `pool-scrubs.ts` makes of it is told: a placement group alone takes 5 kB. */
    | { readonly poolScrubs: true }
    | { readonly omapKeysOf: RadosObject; readonly after: string };
}

export type RadosAnswer =
  | RadosReply
  | RadosRefusal
  /** Why librados cannot be loaded. */
  | { readonly unloadable: string };

/** Longest output that is handed on. A cluster of 2,000 OSDs needs 2 MB for its largest. */
export const maxOutputLength = 32 * 1024 * 1024;
