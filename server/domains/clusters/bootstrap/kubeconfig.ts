import { type ApiEndpoint, formatEndpoint } from "./api-endpoint.ts";
import type { CertifiedKey } from "./certificate.ts";
import { renderYaml } from "./yaml-text.ts";

/**
 * Renders the kubeconfig of a cluster's administrator, self-contained: kubectl needs no other file.
 * @param caCertificatePem CA of the API server's certificate
 */
export function renderKubeconfig(
  clusterName: string,
  endpoint: ApiEndpoint,
  caCertificatePem: string,
  admin: CertifiedKey,
): string {
  const userName = `${clusterName}-admin`;
  const contextName = `${userName}@${clusterName}`;
  const cluster = {
    server: `https://${formatEndpoint(endpoint)}`,
    "certificate-authority-data": base64(caCertificatePem),
  };
  const user = {
    "client-certificate-data": base64(admin.certificatePem),
    "client-key-data": base64(admin.privateKeyPem),
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: clusterName, cluster }],
    users: [{ name: userName, user }],
    contexts: [{ name: contextName, context: { cluster: clusterName, user: userName } }],
    "current-context": contextName,
  };
  return renderYaml([config]);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
