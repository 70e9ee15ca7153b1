import { join } from "node:path";
import type { Test } from "tap";
import { createLabScript, type LabService, labServiceOf, labSkipReason } from "../lab-script.ts";

/** A libvirt daemon used only by the test, of an unprivileged user, with QEMU in emulation. VMs keep running when it stops. */
export interface LibvirtDaemon extends LabService {
  /** `qemu:///session?socket=…` */
  readonly uri: string;
  readonly socketPath: string;
  /** Directory that the daemon may write to, for pools. */
  readonly poolsDirectory: string;
  /** Runs virsh on it; rejects if that fails. */
  virsh(...args: readonly string[]): Promise<string>;
}

/** A daemon that is started without a test. */
export interface StartedLibvirt extends LibvirtDaemon {
  /** Stops the daemon and every VM, and deletes all their files. */
  destroy(): Promise<void>;
}

/** Returns why no daemon can be started here, or false. For tap's `skip` option. */
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

/** Starts a daemon with libvirt.sh that runs until this process ends at the latest: 0.3 s and 30 MiB of memory. */
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

/** Starts a daemon that runs until the test ends. */
export async function startLibvirt(t: Test): Promise<LibvirtDaemon> {
  const daemon = await startLibvirtDaemon();
  t.teardown(daemon.destroy);
  return daemon;
}
