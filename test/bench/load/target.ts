/** The address of a server under test. */
export interface Target {
  /** Port on loopback, without TLS. */
  readonly port: number;
  /** Bearer token for callers; absent if the server accepts none. */
  readonly token?: string;
}
