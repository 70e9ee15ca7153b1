import { join } from "node:path";
import type { Test } from "tap";
import { createLabScript, type LabService, labServiceOf, labSkipReason } from "./lab-script.ts";

/**
 * A libvirt daemon of the test alone, of an unprivileged user, with QEMU that emulates the processor. Domains go on when it ends.
 */
export interface LibvirtDaemon extends LabService {
  /** `qemu:///session?socket=…` */
  readonly uri: string;
  readonly socketPath: string;
  /** Where the daemon may write, for pools. */
  readonly poolsDirectory: string;
  /** Runs virsh against it; rejects when that fails. */
  virsh(...args: readonly string[]): Promise<string>;
}

/** What is made and started without a test around it. */
export interface StartedLibvirt extends LibvirtDaemon {
  /** Ends the daemon and every domain, and deletes all that it kept. */
  destroy(): Promise<void>;
}

/** Why no daemon can be made here, or false when one can. For tap's `skip` option. */
export function libvirtSkipReason(): string | false {
  const programs = [
    "/usr/sbin/libvirtd",
    "/usr/bin/virsh",
    "/usr/bin/qemu-system-x86_64",
    "/usr/bin/qemu-img",
    "/usr/bin/xorrisofs",
    "/usr/bin/nbdcopy",
  ];
  return labSkipReason(programs, { needsRoot: false });
}

/** Starts a daemon by libvirt.sh, until this process ends at the latest: 0.3 s and 30 MiB of memory. */
export async function startLibvirtDaemon(): Promise<StartedLibvirt> {
  const script = await createLabScript("libvirt");
  const { directory, run, destroy } = script;
  try {
    await run("up");
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    ...labServiceOf(script),
    uri: (await run("uri")).trim(),
    socketPath: (await run("socket")).trim(),
    poolsDirectory: join(directory, "pools"),
    virsh: (...args) => run("virsh", ...args),
    destroy,
  };
}

/** The same, until the test ends. */
export async function startLibvirt(t: Test): Promise<LibvirtDaemon> {
  const daemon = await startLibvirtDaemon();
  t.teardown(daemon.destroy);
  return daemon;
}
