import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { createKubernetes, type KubernetesOptions } from "../../../adapters/kubernetes/kubernetes.ts";
import { watchedNames } from "../../../adapters/kubernetes/resources.ts";
import { sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { type FakeApiServer, startFakeApiServer } from "./fake-api-server.ts";
import { kubeconfigFor } from "./kubeconfig.ts";

/** Short intervals for tests, but long enough for delayed heartbeats on a busy machine. */
export const quick = {
  heartbeatMs: 30,
  // Long, because replies are late on a busy machine. A separate test covers a silent server.
  patienceMs: 60_000,
  keepMs: 3_000,
  retry: { firstMs: 10, longestMs: 50 },
} as const;

export async function startServer(t: Test): Promise<FakeApiServer> {
  const server = await startFakeApiServer(sandboxManifests(Date.now(), "rook-ceph"), "rook-ceph");
  t.teardown(() => server.stop());
  return server;
}

export function writeKubeconfig(t: Test, server: { readonly url: string; readonly token: string }): string {
  const path = join(t.testdir(), "kubeconfig");
  writeFileSync(path, kubeconfigFor(server), { mode: 0o600 });
  return path;
}

export function connect(t: Test, server: FakeApiServer, options: Partial<KubernetesOptions> = {}) {
  const kubernetes = createKubernetes({ kubeconfigPath: writeKubeconfig(t, server), ...quick, ...options });
  t.teardown(() => kubernetes.close());
  return kubernetes;
}

export async function everyWatchStands(server: FakeApiServer): Promise<void> {
  while (server.watchCount() < watchedNames.length) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
