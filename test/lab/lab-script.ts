import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The script `NAME/NAME.sh` beside this file, with its own lab. */
export interface LabScript {
  /** Directory of all the lab's files. */
  readonly directory: string;
  /** Runs one of its commands; returns its stdout, rejects if it fails. */
  run(...args: readonly string[]): Promise<string>;
  /** Stops the lab and deletes its files. */
  destroy(): Promise<void>;
}

/**
 * Creates a directory for a lab that runs until this process ends at the latest.
 * @param variables without their prefix: `OSDS` is `CEPH_OSDS` for ceph.sh
 * @param timeoutMs for each of its commands
 */
export async function createLabScript(
  name: "ceph" | "libvirt" | "podman",
  variables: Readonly<Record<string, string>> = {},
  timeoutMs = 600_000,
): Promise<LabScript> {
  const path = fileURLToPath(new URL(`${name}/${name}.sh`, import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), `hostplane-${name}-`));
  const own = Object.entries({ DIR: directory, OWNER_PID: String(process.pid), ...variables });
  const prefixed = own.map(([key, value]) => [`${name.toUpperCase()}_${key}`, value]);
  const env = { ...process.env, ...Object.fromEntries(prefixed) };
  const options = { env, timeout: timeoutMs, maxBuffer: 256 * 1024 * 1024 };
  const run = async (...args: readonly string[]) => (await promisify(execFile)(path, args, options)).stdout;
  return {
    directory,
    run,
    async destroy() {
      await run("destroy");
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Returns why the lab cannot run here, or false. For tap's `skip` option. With HOSTPLANE_LAB=required it is always false: missing
 * programs are installed, or the test fails by itself.
 * @param programs paths of the required programs
 */
export function labSkipReason(
  programs: readonly string[],
  { needsRoot }: { readonly needsRoot: boolean },
): string | false {
  if (process.env.HOSTPLANE_LAB === "required") {
    return false;
  }
  if (needsRoot && process.getuid?.() !== 0) {
    return "the lab needs root";
  }
  const missing = programs.find((program) => !existsSync(program));
  return missing === undefined ? false : `${missing} is missing; HOSTPLANE_LAB=required installs it`;
}

/** A service that can be stopped and started while the resources it manages keep running. */
export interface LabService {
  /** Returns its process id; rejects if it is down. */
  pid(): Promise<number>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again, on the same socket. */
  start(): Promise<void>;
}

/** Returns the service of a script with commands of these names. */
export function labServiceOf({ run }: LabScript): LabService {
  return {
    pid: async () => Number(await run("pid")),
    stop: async () => void (await run("stop")),
    kill: async () => void (await run("kill")),
    start: async () => void (await run("start")),
  };
}
