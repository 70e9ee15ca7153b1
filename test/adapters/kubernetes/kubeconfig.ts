/** A kubeconfig for a server that speaks HTTP, which the library takes only where certificates are not checked. */
export function kubeconfigFor({ url, token }: { readonly url: string; readonly token: string }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "hostplane", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "hostplane" } }],
  });
}
