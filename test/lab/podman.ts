import type { Test } from "tap";
import { createLabScript, type LabService, labServiceOf, labSkipReason } from "./lab-script.ts";

/** The image that is there from the start: busybox, with a shell and little else. */
export const labImage = "localhost/lab/busybox:1";

/** A Podman of the test alone, in namespaces of its own. Containers go on when the service ends. */
export interface PodmanService extends LabService {
  readonly socketPath: string;
  /** The file in which it records events. */
  readonly eventsLogPath: string;
  /** Runs `podman` beside the service; gives its stdout, rejects when it fails. */
  podman(...args: readonly string[]): Promise<string>;
}

/** What is made and started without a test around it. */
export interface StartedPodman extends PodmanService {
  /** Ends the service and every container, and deletes all that it kept. */
  destroy(): Promise<void>;
}

/** Why no Podman can be started here, or false when one can. For tap's `skip` option. */
export function podmanSkipReason(): string | false {
  const programs = ["/usr/bin/podman", "/usr/sbin/runc", "/usr/bin/catatonit", "/usr/bin/busybox"];
  return labSkipReason(programs, { needsRoot: true });
}

/** Starts one by podman.sh, until this process ends at the latest: a second and 100 MiB of memory. */
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

/** The same, until the test ends. */
export async function startPodman(t: Test): Promise<PodmanService> {
  const service = await startPodmanService();
  t.teardown(service.destroy);
  return service;
}
