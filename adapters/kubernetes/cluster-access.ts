import { createConfiguration, HttpMethod, KubeConfig, RequestContext } from "@kubernetes/client-node";
import { InfraError } from "../host/infra-error.ts";
import { kubernetesReasons } from "./reasons.ts";
import { untilAborted } from "./until-aborted.ts";

export interface ClusterAccessOptions {
  /** Undefined: the service account of the gateway's own pod. */
  readonly kubeconfigPath: string | undefined;
  /** Context of the kubeconfig; the current one if undefined. */
  readonly context: string | undefined;
  /** Timeout of a reply, including authentication. */
  readonly patienceMs: number;
}

export interface ClusterAccess {
  /** Always the same object; `load` updates it in place. */
  readonly kubeConfig: KubeConfig;
  /** Returns the server and user, for messages, e.g. `https://10.0.0.1:6443 as admin`. */
  describe(): string;
  /**
   * Reads the kubeconfig again, since it may have changed: its certificates expire.
   * @throws InfraError KUBERNETES_UNAVAILABLE, KUBERNETES_DENIED
   */
  load(): void;
  /** Sends a GET request. @throws errors for `failureFrom` */
  getJson(path: string): Promise<unknown>;
}

/** Creates the access to a cluster. Nothing is read before `load`. */
export function createClusterAccess(options: ClusterAccessOptions): ClusterAccess {
  const { kubeconfigPath, context, patienceMs } = options;
  const kubeConfig = new KubeConfig();
  const { httpApi } = createConfiguration();

  return {
    kubeConfig,
    describe() {
      const user = kubeconfigPath === undefined ? "the pod's account" : kubeConfig.getCurrentUser()?.name;
      return `${kubeConfig.getCurrentCluster()?.server ?? "the cluster"} as ${user ?? "an unknown user"}`;
    },
    load() {
      if (kubeconfigPath === undefined) {
        loadPodAccount(kubeConfig);
      } else {
        loadKubeconfig(kubeConfig, kubeconfigPath, context);
      }
    },
    async getJson(path) {
      const url = `${kubeConfig.getCurrentCluster()?.server ?? ""}${path}`;
      const request = new RequestContext(url, HttpMethod.GET);
      const signal = AbortSignal.timeout(patienceMs);
      request.setSignal(signal);
      // Reads files, and takes no signal.
      await untilAborted(kubeConfig.applySecurityAuthentication(request), signal);
      const response = await httpApi.send(request).toPromise();
      const text = await response.body.text();
      if (response.httpStatusCode !== 200) {
        // The form in which the library reports a refused watch.
        throw Object.assign(new Error(text.slice(0, 1_000)), { statusCode: response.httpStatusCode });
      }
      return JSON.parse(text);
    },
  };
}

function loadPodAccount(kubeConfig: KubeConfig): void {
  if (process.env.KUBERNETES_SERVICE_HOST === undefined) {
    throw new InfraError(
      kubernetesReasons.KUBERNETES_UNAVAILABLE,
      "The gateway does not run in a pod, so storage.kubernetes.kubeconfig must be set",
    );
  }
  kubeConfig.loadFromCluster();
}

function loadKubeconfig(kubeConfig: KubeConfig, path: string, context: string | undefined): void {
  // Loaded into a new object, so that watches keep the previous configuration if this one is invalid.
  const read = new KubeConfig();
  try {
    read.loadFromFile(path);
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "it is not a kubeconfig";
    throw new InfraError(
      kubernetesReasons.KUBERNETES_UNAVAILABLE,
      `The kubeconfig ${path} cannot be read: ${why}`,
      {
        cause,
      },
    );
  }
  if (context !== undefined) {
    read.setCurrentContext(context);
  }
  const user = read.getCurrentUser();
  if (read.getCurrentCluster() === null || user === null) {
    const name = read.getCurrentContext();
    throw new InfraError(
      kubernetesReasons.KUBERNETES_DENIED,
      `The kubeconfig ${path} has no context ${name || "(none is current)"} with a cluster and a user`,
    );
  }
  // The library would run the program with the gateway's full environment, and without a timeout.
  if (user.exec || user.authProvider) {
    throw new InfraError(
      kubernetesReasons.KUBERNETES_DENIED,
      `The kubeconfig ${path} has a user ${user.name} with a credential program (exec, auth-provider), which the gateway does not run: use a service account token or a client certificate`,
    );
  }
  const { clusters, users, contexts, currentContext } = read;
  kubeConfig.loadFromOptions({ clusters, users, contexts, currentContext });
}
