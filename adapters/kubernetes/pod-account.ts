import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { InfraError } from "../host/infra-error.ts";
import type { ClusterLogin } from "./cluster-login.ts";
import { kubernetesReasons } from "./reasons.ts";

/** Where Kubernetes mounts the service account of a pod. */
const accountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Returns the login of the service account of the gateway's own pod.
 * @throws InfraError KUBERNETES_UNAVAILABLE outside a pod, or in one without a service account
 */
export function readPodAccount(
  env: NodeJS.ProcessEnv = process.env,
  directory: string = accountDirectory,
): ClusterLogin {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host === undefined) {
    throw new InfraError(
      kubernetesReasons.KUBERNETES_UNAVAILABLE,
      "The gateway does not run in a pod, so storage.kubernetes.kubeconfig must be set",
    );
  }
  const caPath = join(directory, "ca.crt");
  try {
    return {
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      user: "the pod's account",
      tls: {
        ca: readFileSync(caPath, "utf8"),
        cert: undefined,
        key: undefined,
        servername: undefined,
        rejectUnauthorized: true,
      },
      proxyUrl: undefined,
      headers: {},
      tokenPath: join(directory, "token"),
    };
  } catch (cause) {
    throw new InfraError(
      kubernetesReasons.KUBERNETES_UNAVAILABLE,
      `The gateway's pod has no service account: ${caPath} cannot be read`,
      { cause },
    );
  }
}
