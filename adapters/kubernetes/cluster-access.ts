import { readFile } from "node:fs/promises";
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from "undici";
import { createLineSplitter } from "../host/line-splitter.ts";
import type { ClusterLogin } from "./cluster-login.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { readPodAccount } from "./pod-account.ts";
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
  /** Returns the server and user, for messages, e.g. `https://10.0.0.1:6443 as admin`. */
  describe(): string;
  /**
   * Reads the kubeconfig again, since it may have changed: its certificates expire. Keeps the previous one on an error.
   * @throws InfraError KUBERNETES_UNAVAILABLE, KUBERNETES_DENIED
   */
  load(): void;
  /** Sends a GET request. @throws errors for `failureFrom` */
  getJson(path: string): Promise<unknown>;
  /**
   * Sends a GET request, and resolves when the reply begins. The lines end when the server ends them, and throw when the
   * connection breaks or was silent for `quietMs`.
   * @throws errors for `failureFrom`
   */
  getLines(path: string, quietMs: number, signal: AbortSignal): Promise<AsyncIterable<string>>;
  /** Ends all requests. */
  close(): Promise<void>;
}

/** Creates the access to a cluster. Nothing is read before `load`. */
export function createClusterAccess(options: ClusterAccessOptions): ClusterAccess {
  const { kubeconfigPath, context, patienceMs } = options;
  let login: ClusterLogin | undefined;
  let dispatcher: Dispatcher | undefined;

  async function get(path: string, signal: AbortSignal, quietMs: number) {
    if (login === undefined || dispatcher === undefined) {
      throw new Error("no kubeconfig has been read");
    }
    const { server, headers, tokenPath } = login;
    const sender = dispatcher;
    const { origin, pathname } = new URL(server);
    // Opening a file takes no signal.
    const token = tokenPath && (await untilAborted(readFile(tokenPath, "utf8"), signal));
    const { statusCode, body } = await sender.request({
      origin,
      path: `${pathname.replace(/\/$/, "")}${path}`,
      method: "GET",
      headers: { ...headers, ...(token && { authorization: `Bearer ${token.trim()}` }) },
      headersTimeout: 0,
      bodyTimeout: quietMs,
      signal,
    });
    if (statusCode !== 200) {
      const text = await body.text();
      throw Object.assign(new Error(text.slice(0, 1_000)), { statusCode });
    }
    return body;
  }

  return {
    describe: () =>
      login === undefined ? "the cluster as an unknown user" : `${login.server} as ${login.user}`,
    load() {
      const read = kubeconfigPath === undefined ? readPodAccount() : readKubeconfig(kubeconfigPath, context);
      if (JSON.stringify(read) === JSON.stringify(login)) {
        return;
      }
      const previous = dispatcher;
      dispatcher = createDispatcher(read);
      login = read;
      // Established watches continue.
      void previous?.close();
    },
    async getJson(path) {
      const body = await get(path, AbortSignal.timeout(patienceMs), 0);
      return JSON.parse(await body.text());
    },
    async getLines(path, quietMs, signal) {
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(new DOMException("no reply in time", "TimeoutError")),
        patienceMs,
      );
      try {
        return linesOf(await get(path, AbortSignal.any([signal, late.signal]), quietMs));
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => dispatcher?.destroy(),
  };
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const split = createLineSplitter();
  for await (const chunk of body) {
    yield* split(chunk);
  }
}

function createDispatcher({ tls, proxyUrl }: ClusterLogin): Dispatcher {
  // HTTP/1.1, so that a lost connection ends one watch. Proxies of the environment are ignored.
  const options = { allowH2: false } as const;
  if (proxyUrl === undefined) {
    return new Agent({ ...options, connect: { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 } });
  }
  return /^socks5h?:/.test(proxyUrl)
    ? new Socks5ProxyAgent(proxyUrl, { ...options, requestTls: tls })
    : new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls });
}
