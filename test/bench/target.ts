/** A server under a bench. */
export interface Target {
  /** On loopback, cleartext. */
  readonly port: number;
  /** What callers show as a bearer token; absent where a token would be wrong. */
  readonly token?: string;
}
