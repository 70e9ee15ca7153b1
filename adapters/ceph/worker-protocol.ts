import type { RadosObject, RadosOptions, RadosRefusal, RadosReply } from "./librados.ts";

/** A request from the gateway to its worker. Plain JSON, over Node's IPC channel. */
export interface RadosRequest {
  /** Identifies the connection, which is opened on first use. */
  readonly as: RadosOptions;
  readonly query:
    | { readonly target: "mon" | "mgr"; readonly command: string }
    /** `pg dump`, reduced to the result of `pool-scrubs.ts`: the entry of one placement group takes 5 kB. */
    | { readonly poolScrubs: true }
    | { readonly omapKeysOf: RadosObject; readonly after: string };
}

export type RadosAnswer =
  | RadosReply
  | RadosRefusal
  /** Why librados cannot be loaded. */
  | { readonly unloadable: string };

/** Maximum length of a returned output. The largest one of a cluster with 2,000 OSDs has 2 MB. */
export const maxOutputLength = 32 * 1024 * 1024;
