import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("kubernetes-build.sh", import.meta.url));
const xdgCache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
const cache = process.env.KUBERNETES_CACHE ?? join(xdgCache, "hostplane-kubelab");

/**
 * Returns the directory of the built Kubernetes programs.
 * @param version e.g. `1.36.3`
 */
export function kubernetesPrograms(version = "1.36.3"): string {
  return join(cache, `v${version}`, "bin");
}

/** Builds missing programs; returns their directory. */
export async function buildKubernetesPrograms(version: string, programs: readonly string[]): Promise<string> {
  const env = { ...process.env, KUBERNETES_CACHE: cache, KUBERNETES_VERSION: `v${version}` };
  await promisify(execFile)(script, programs, { env, maxBuffer: 64 * 1024 * 1024 });
  return kubernetesPrograms(version);
}
