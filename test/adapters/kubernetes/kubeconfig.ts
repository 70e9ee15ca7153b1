export interface KubeconfigFor {
  readonly url: string;
  readonly token?: string;
  readonly tokenFile?: string;
  /** The CA of the server's certificate. Undefined: the certificate is not verified, which also allows plain HTTP. */
  readonly ca?: Buffer;
  readonly client?: { readonly cert: Buffer; readonly key: Buffer };
}

/** Returns the text of a kubeconfig with one context, `test`. */
export function kubeconfigFor({ url, token, tokenFile, ca, client }: KubeconfigFor): string {
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
    users: [{ name: "hostplane", user: { token, tokenFile, ...certificate } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "hostplane" } }],
  });
}
