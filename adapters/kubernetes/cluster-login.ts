/** Where a cluster is, and how the gateway authenticates to it: from a kubeconfig, or from the account of its own pod. */
export interface ClusterLogin {
  /** URL without a trailing slash, e.g. `https://10.0.0.1:6443`. */
  readonly server: string;
  /** Name of the user in the kubeconfig, for messages. */
  readonly user: string;
  readonly tls: {
    /** PEM; undefined: the CAs that Node trusts. */
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
    /** Name in the server's certificate; undefined: the server's host. */
    readonly servername: string | undefined;
    readonly rejectUnauthorized: boolean;
  };
  /** `http://`, `https://` or `socks5://`; undefined: a direct connection. */
  readonly proxyUrl: string | undefined;
  /** Sent with each request: authorization, and impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** File with a token that may change at any time; undefined if `headers` has everything. */
  readonly tokenPath: string | undefined;
}
