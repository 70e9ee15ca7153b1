import { createConfiguration, HttpMethod, KubeConfig, RequestContext } from "@kubernetes/client-node";
import { InfraError } from "../host/infra-error.ts";
import { untilAborted } from "./until-aborted.ts";

export interface ClusterAccessOptions {
  /** Undefined: the account of the pod that the gateway runs in. */
  readonly kubeconfigPath: string | undefined;
  /** Of the kubeconfig; its current one when undefined. */
  readonly context: string | undefined;
  /** How long an answer is awaited, with what it takes to be let in. */
  readonly patienceMs: number;
}

export interface ClusterAccess {
  /** The same one ever after: what is read anew goes into it. */
  readonly kubeConfig: KubeConfig;
  /** Where it goes and as whom, for people, as `https://10.0.0.1:6443 as admin`. */
  describe(): string;
  /**
   * Reads the kubeconfig, which may be another than it was: certificates in it expire.
   * @throws InfraError KUBERNETES_UNAVAILABLE, KUBERNETES_DENIED
   */
  load(): void;
  /** @throws what failureFrom reads */
  getJson(path: string): Promise<unknown>;
}

/** The way to a cluster. Nothing is read before `load`. */
export function createClusterAccess(options: ClusterAccessOptions): ClusterAccess {
  const { kubeconfigPath, context, patienceMs } = options;
  const kubeConfig = new KubeConfig();
  const { httpApi } = createConfiguration();

  return {
    kubeConfig,
    describe() {
      const user = kubeconfigPath === undefined ? "the pod's account" : kubeConfig.getCurrentUser()?.name;
      return `${kubeConfig.getCurrentCluster()?.server ?? "the cluster"} as ${user ?? "nobody"}`;
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
      // Which reads files, and takes no signal.
      await untilAborted(kubeConfig.applySecurityAuthentication(request), signal);
      const response = await httpApi.send(request).toPromise();
      const text = await response.body.text();
      if (response.httpStatusCode !== 200) {
        // The form in which the library tells of a watch that was refused.
        throw Object.assign(new Error(text.slice(0, 1_000)), { statusCode: response.httpStatusCode });
      }
      return JSON.parse(text);
    },
  };
}

function loadPodAccount(kubeConfig: KubeConfig): void {
  if (process.env.KUBERNETES_SERVICE_HOST === undefined) {
    throw new InfraError(
      "KUBERNETES_UNAVAILABLE",
      "The gateway runs in no pod, so storage.kubernetes.kubeconfig must say where the cluster is",
    );
  }
  kubeConfig.loadFromCluster();
}

function loadKubeconfig(kubeConfig: KubeConfig, path: string, context: string | undefined): void {
  // Watches go on with what is there, which one that is not good does not replace.
  const read = new KubeConfig();
  try {
    read.loadFromFile(path);
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "it is no kubeconfig";
    throw new InfraError("KUBERNETES_UNAVAILABLE", `The kubeconfig ${path} cannot be read: ${why}`, {
      cause,
    });
  }
  if (context !== undefined) {
    read.setCurrentContext(context);
  }
  const user = read.getCurrentUser();
  if (read.getCurrentCluster() === null || user === null) {
    const name = read.getCurrentContext();
    throw new InfraError(
      "KUBERNETES_DENIED",
      `The kubeconfig ${path} has no context ${name || "(none is current)"} with a cluster and a user`,
    );
  }
  // The library would run it with all of the gateway's environment, and for as long as it likes.
  if (user.exec || user.authProvider) {
    throw new InfraError(
      "KUBERNETES_DENIED",
      `The kubeconfig ${path} has a user ${user.name} who is let in by another program (exec, auth-provider), which the gateway does not run: give it the token of a service account or a client certificate`,
    );
  }
  const { clusters, users, contexts, currentContext } = read;
  kubeConfig.loadFromOptions({ clusters, users, contexts, currentContext });
}
