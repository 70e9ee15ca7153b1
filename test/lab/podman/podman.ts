import type { Test } from "tap";
import { createLabScript, type LabService, labServiceOf, labSkipReason } from "../lab-script.ts";

/** The initial image: busybox, with a shell and little else. */
export const labImage = "localhost/lab/busybox:1";

/** A Podman used only by the test, in its own namespaces. Containers keep running when the service stops. */
export interface PodmanService extends LabService {
  readonly socketPath: string;
  /** The file in which it records events. */
  readonly eventsLogPath: string;
  /** Runs `podman` on the same store; returns its stdout, rejects if it fails. */
  podman(...args: readonly string[]): Promise<string>;
}

/** A service that is started without a test. */
export interface StartedPodman extends PodmanService {
  /** Stops the service and every container, and deletes all their files. */
  destroy(): Promise<void>;
}

/** Returns why no Podman can be started here, or false. For tap's `skip` option. */
export function podmanSkipReason(): string | false {
  const programs = ["/usr/bin/podman", "/usr/sbin/runc", "/usr/bin/catatonit", "/usr/bin/busybox"];
  return labSkipReason(programs, { needsRoot: true });
}

/** Starts a service with podman.sh that runs until this process ends at the latest: a second and 100 MiB of memory. */
export async function startPodmanService(): Promise<StartedPodman> {
  const script = await createLabScript("podman");
  const { run, destroy } = script;
  try {
    await run("up");
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    ...labServiceOf(script),
    socketPath: (await run("socket")).trim(),
    eventsLogPath: (await run("events-log")).trim(),
    podman: (...args) => run("run", ...args),
    destroy,
  };
}

/** Starts a service that runs until the test ends. */
export async function startPodman(t: Test): Promise<PodmanService> {
  const service = await startPodmanService();
  t.teardown(service.destroy);
  return service;
}
