import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";

const scriptPath = fileURLToPath(new URL("libvirt.sh", import.meta.url));

/** A libvirt daemon of the test alone, of an unprivileged user, with QEMU that emulates the processor. */
export interface LibvirtDaemon {
  /** `qemu:///session?socket=…` */
  readonly uri: string;
  readonly socketPath: string;
  /** Where the daemon may write, for pools. */
  readonly poolsDirectory: string;
  /** Runs virsh against it; rejects when that fails. */
  virsh(...args: readonly string[]): Promise<string>;
  /** The daemon's process; rejects when it is down. */
  pid(): Promise<number>;
  /** Ends it in an orderly way. Domains go on. */
  stop(): Promise<void>;
  /** Kills it. Domains go on. */
  kill(): Promise<void>;
  /** Starts it again, on the same socket. */
  start(): Promise<void>;
}

/** What is made and started without a test around it. */
export interface StartedLibvirt extends LibvirtDaemon {
  /** Ends the daemon and every domain, and deletes all that it kept. */
  destroy(): Promise<void>;
}

/**
 * Why no daemon can be made here, or false when one can. For tap's `skip` option. With HOSTPLANE_LAB=required it is
 * always false: what is missing is installed, or the test fails by itself.
 */
export function libvirtSkipReason(): string | false {
  if (process.env.HOSTPLANE_LAB === "required") {
    return false;
  }
  const needed = [
    "/usr/sbin/libvirtd",
    "/usr/bin/virsh",
    "/usr/bin/qemu-system-x86_64",
    "/usr/bin/qemu-img",
    "/usr/bin/xorrisofs",
    "/usr/bin/nbdcopy",
  ];
  const missing = needed.find((program) => !existsSync(program));
  return missing === undefined ? false : `${missing} is missing; HOSTPLANE_LAB=required installs it`;
}

/** Starts a daemon by libvirt.sh, until this process ends at the latest: 0.3 s and 30 MiB of memory. */
export async function startLibvirtDaemon(): Promise<StartedLibvirt> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-libvirt-"));
  const environment = { ...process.env, LIBVIRT_DIR: directory, LIBVIRT_OWNER_PID: String(process.pid) };
  const script = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(scriptPath, args, { env: environment, timeout: 600_000 })).stdout;
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
    uri: (await script("uri")).trim(),
    socketPath: (await script("socket")).trim(),
    poolsDirectory: join(directory, "pools"),
    virsh: (...args) => script("virsh", ...args),
    pid: async () => Number(await script("pid")),
    stop: async () => void (await script("stop")),
    kill: async () => void (await script("kill")),
    start: async () => void (await script("start")),
    destroy,
  };
}

/** The same, until the test ends. */
export async function startLibvirt(t: Test): Promise<LibvirtDaemon> {
  const daemon = await startLibvirtDaemon();
  t.teardown(daemon.destroy);
  return daemon;
}
