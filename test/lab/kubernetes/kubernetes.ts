import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";
import { freePort } from "../../server/harness/free-port.ts";

const scriptPath = fileURLToPath(new URL("kubernetes.sh", import.meta.url));

/** A kube-apiserver used only by the test, with its etcd. */
export interface KubernetesLab {
  /** Makes a request with all permissions. Rejects unless the response is a success or 404; retries after 429. */
  query(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Returns a kubeconfig for a token, through the gate. */
  kubeconfig(token: string): Promise<string>;
  /** Stops kube-apiserver gracefully, which waits for open watches. etcd keeps running. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Makes etcd discard its history. */
  compact(): Promise<void>;
  /** Cuts connections through the gate, and accepts none until it is opened. */
  closeGate(): void;
  openGate(): void;
}

export interface Answer {
  readonly statusCode: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of an API server have any shape
  readonly body: any;
}

/**
 * Returns why tests are skipped, for tap's `skip` option. They run only on request, since building from source takes ten minutes.
 */
export function kubernetesSkipReason(): string | false {
  return process.env.KUBERNETES_LAB === "1"
    ? false
    : "KUBERNETES_LAB=1 builds kube-apiserver from source, which takes ten minutes once";
}

/** Builds missing programs, and starts a cluster that runs until this process ends at the latest: 4 s and 0.4 GiB of memory. */
export async function startKubernetes(t: Test): Promise<KubernetesLab> {
  const directory = join(tmpdir(), `hostplane-kubernetes-${process.pid}`);
  const ports = await freePorts(3);
  const environment = {
    ...process.env,
    KUBERNETES_DIR: directory,
    KUBERNETES_PORTS: ports.join(" "),
    KUBERNETES_OWNER_PID: String(process.pid),
  };
  const script = async (command: string) => {
    await promisify(execFile)(scriptPath, [command], { env: environment, timeout: 1_700_000 });
  };
  t.teardown(() => script("destroy"));
  await script("build");
  await script("up");
  const [port = 0] = ports;
  const ca = await readFile(join(directory, "ca.crt"), "utf8");
  const token = (await readFile(join(directory, "admin.token"), "utf8")).trim();
  const gate = await startGate(t, port);

  async function query(method: string, path: string, body?: unknown): Promise<Answer> {
    const sent = request({
      host: "127.0.0.1",
      port,
      ca,
      method,
      path,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, "response");
    const answer = await text(response);
    const { statusCode } = response;
    if (statusCode === 429) {
      await delay(100);
      return query(method, path, body);
    }
    if (statusCode >= 300 && statusCode !== 404) {
      throw new Error(`${method} ${path}: ${statusCode} ${answer}`);
    }
    return { statusCode, body: answer.startsWith("{") ? JSON.parse(answer) : answer };
  }

  return {
    query,
    async kubeconfig(ofToken) {
      return JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "lab",
        clusters: [
          {
            name: "lab",
            cluster: {
              server: `https://127.0.0.1:${gate.port}`,
              "certificate-authority-data": Buffer.from(ca).toString("base64"),
            },
          },
        ],
        users: [{ name: "hostplane", user: { token: ofToken } }],
        contexts: [{ name: "lab", context: { cluster: "lab", user: "hostplane" } }],
      });
    },
    stop: () => script("stop"),
    kill: () => script("kill"),
    start: () => script("start"),
    compact: () => script("compact"),
    closeGate: gate.close,
    openGate: gate.open,
  };
}

/** Returns different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    ports.add(await freePort());
  }
  return [...ports];
}

/** Starts a relay that can be closed. */
async function startGate(t: Test, to: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    if (!isOpen) {
      client.destroy();
      return;
    }
    const onward = connect(to, "127.0.0.1");
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        onward.destroy();
      });
    }
    client.pipe(onward).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  function close(): void {
    isOpen = false;
    for (const socket of sockets) {
      socket.destroy();
    }
  }
  t.teardown(() => {
    server.close();
    close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    close,
    open() {
      isOpen = true;
    },
  };
}
