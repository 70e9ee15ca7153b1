import { writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import { type Kubectl, untilKubectl } from "./kubectl.ts";
import { toolboxImage } from "./kubernetes-image.ts";

/** Deploys a Deployment whose pods return their node's name, behind a service `web`, and a pod `client` that calls it. */
export async function deployWeb(kubectl: Kubectl, file: string, replicas: number): Promise<void> {
  await writeFile(file, JSON.stringify(manifest(replicas)));
  await kubectl("apply", "--filename", file);
  const rollout = ["rollout", "status", "deployment/web", "deployment/client", "--timeout=5s"];
  await untilKubectl(
    () => kubectl(...rollout),
    () => true,
    180_000,
  );
}

/** Calls the service until every pod has responded; returns the names of their nodes. */
export async function queryWeb(kubectl: Kubectl, replicas: number): Promise<readonly string[]> {
  const nodes = new Set<string>();
  // Without wget's own -T, which crashes Debian's busybox 1.35.
  const wget = ["/bin/busybox", "timeout", "5", "/bin/busybox", "wget", "-qO-", "http://web:8080/"];
  const query = () => kubectl("exec", "deployment/client", "--", ...wget);
  await untilKubectl(
    query,
    (answer) => {
      nodes.add(answer.trim());
      return nodes.size >= replicas;
    },
    90_000,
  );
  return [...nodes];
}

/** Prints the nodes as test comments. */
export async function commentNodes(t: Test, kubectl: Kubectl): Promise<void> {
  for (const line of (await kubectl("get", "nodes", "--output=wide")).trimEnd().split("\n")) {
    t.comment(line);
  }
}

/** Polls how many pods of the Deployment are available, until `end` is called. */
export function watchAvailable(kubectl: Kubectl) {
  let isOver = false;
  let reads = 0;
  let failed = 0;
  let fewest = Number.POSITIVE_INFINITY;
  const reading = (async () => {
    while (!isOver) {
      reads += 1;
      try {
        const answer = await kubectl(
          "get",
          "deployment/web",
          "--output=jsonpath={.status.availableReplicas}",
        );
        fewest = Math.min(fewest, Number(answer));
      } catch {
        failed += 1;
      }
      await wait(1_000);
    }
  })();
  return {
    async end() {
      isOver = true;
      await reading;
      return { fewest, reads, failed };
    },
  };
}

export interface NodeFacts {
  readonly name: string;
  readonly isReady: boolean;
  readonly version: string;
  /** When its kubelet last wrote the condition `Ready`, which it does at its start and every five minutes. */
  readonly heartbeatAtMs: number;
}

export async function nodesOf(kubectl: Kubectl): Promise<readonly NodeFacts[]> {
  const path = "{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion} ";
  const ready =
    '{range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{"\\n"}{end}{end}';
  const text = (await kubectl("get", "nodes", `--output=jsonpath=${path}${ready}`)).trim();
  return text.split("\n").map((line) => {
    const [name = "", version = "", status, heartbeat = ""] = line.split(" ");
    return {
      name,
      version: version.replace(/^v/, ""),
      isReady: status === "True",
      heartbeatAtMs: Date.parse(heartbeat),
    };
  });
}

function manifest(replicas: number) {
  const serve =
    'busybox mkdir -p /tmp/www; echo "$NODE" >/tmp/www/index.html; exec busybox httpd -f -p 8080 -h /tmp/www';
  const web = container(serve, [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }]);
  const spread = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ],
  };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      deployment("web", replicas, { ...spread, containers: [web] }),
      deployment("client", 1, { containers: [container("exec busybox sleep 1000000")] }),
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "web" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web" },
        spec: { selector: { app: "web" }, ports: [{ port: 8080 }] },
      },
    ],
  };
}

function container(script: string, env: readonly object[] = []) {
  const command = ["/bin/busybox", "sh", "-c", `PATH=/bin; ${script}`];
  return { name: "main", image: toolboxImage, imagePullPolicy: "Never", command, env };
}

function deployment(name: string, replicas: number, spec: object) {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, ...spec } },
    },
  };
}
