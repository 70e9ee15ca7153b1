import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";

const scriptPath = fileURLToPath(new URL("podman.sh", import.meta.url));

/** The image that is there from the start: busybox, with a shell and little else. */
export const labImage = "localhost/lab/busybox:1";

/** A Podman of the test alone, in namespaces of its own. */
export interface PodmanService {
  readonly socketPath: string;
  /** The file in which it records events. */
  readonly eventsLogPath: string;
  /** Runs `podman` beside the service; gives its stdout, rejects when it fails. */
  podman(...args: readonly string[]): Promise<string>;
  /** The service's process; rejects when it is down. */
  pid(): Promise<number>;
  /** Ends the service in an orderly way. Containers go on. */
  stop(): Promise<void>;
  /** Kills it. Containers go on. */
  kill(): Promise<void>;
  /** Starts it again, on the same socket. */
  start(): Promise<void>;
}

/** What is made and started without a test around it. */
export interface StartedPodman extends PodmanService {
  /** Ends the service and every container, and deletes all that it kept. */
  destroy(): Promise<void>;
}

/**
 * Why no Podman can be started here, or false when one can. For tap's `skip` option. With HOSTPLANE_LAB=required it is always
 * false: what is missing is installed, or the test fails by itself.
 */
export function podmanSkipReason(): string | false {
  if (process.env.HOSTPLANE_LAB === "required") {
    return false;
  }
  if (process.getuid?.() !== 0) {
    return "Podman's namespaces need root";
  }
  const needed = ["/usr/bin/podman", "/usr/sbin/runc", "/usr/bin/catatonit", "/usr/bin/busybox"];
  const missing = needed.find((program) => !existsSync(program));
  return missing === undefined ? false : `${missing} is missing; HOSTPLANE_LAB=required installs it`;
}

/** Starts one by podman.sh, until this process ends at the latest: a second and 100 MiB of memory. */
export async function startPodmanService(): Promise<StartedPodman> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-podman-"));
  const environment = { ...process.env, PODMAN_DIR: directory, PODMAN_OWNER_PID: String(process.pid) };
  const script = async (...args: readonly string[]): Promise<string> => {
    const options = { env: environment, timeout: 600_000, maxBuffer: 256 * 1024 * 1024 };
    return (await promisify(execFile)(scriptPath, args, options)).stdout;
  };
  const destroy = async () => {
    await script("destroy");
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await script("up");
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    socketPath: (await script("socket")).trim(),
    eventsLogPath: (await script("events-log")).trim(),
    podman: (...args) => script("run", ...args),
    pid: async () => Number(await script("pid")),
    stop: async () => void (await script("stop")),
    kill: async () => void (await script("kill")),
    start: async () => void (await script("start")),
    destroy,
  };
}

/** The same, until the test ends. */
export async function startPodman(t: Test): Promise<PodmanService> {
  const service = await startPodmanService();
  t.teardown(service.destroy);
  return service;
}
