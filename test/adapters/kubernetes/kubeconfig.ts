export interface KubeconfigFor {
  readonly url: string;
  readonly token?: string;
  /** Whom the server's certificate is of. Undefined: it is not checked, without which the library takes no plain HTTP. */
  readonly ca?: Buffer;
  readonly client?: { readonly cert: Buffer; readonly key: Buffer };
}

/** The text of a kubeconfig with one context, `test`. */
export function kubeconfigFor({ url, token, ca, client }: KubeconfigFor): string {
  const trust =
    ca === undefined
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": ca.toString("base64") };
  const certificate = client && {
    "client-certificate-data": client.cert.toString("base64"),
    "client-key-data": client.key.toString("base64"),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: url, ...trust } }],
    users: [{ name: "hostplane", user: { token, ...certificate } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "hostplane" } }],
  });
}
