import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The script `NAME.sh` beside this file, for a lab of its own. */
export interface LabScript {
  /** All that the lab keeps. */
  readonly directory: string;
  /** Runs one of its commands; gives its stdout, rejects when it fails. */
  run(...args: readonly string[]): Promise<string>;
  /** Ends the lab and deletes all that it kept. */
  destroy(): Promise<void>;
}

/**
 * Makes a directory for a lab that ends with this process at the latest.
 * @param variables `OSDS` is `CEPH_OSDS` to ceph.sh
 * @param timeoutMs for each of its commands
 */
export async function createLabScript(
  name: "ceph" | "libvirt" | "podman",
  variables: Readonly<Record<string, string>> = {},
  timeoutMs = 600_000,
): Promise<LabScript> {
  const path = fileURLToPath(new URL(`${name}.sh`, import.meta.url));
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
 * Why no lab can be made here, or false when one can. For tap's `skip` option. With HOSTPLANE_LAB=required it is always false:
 * what is missing is installed, or the test fails by itself.
 * @param programs paths of what it needs
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

/** A service that can be ended and started while what it looks after goes on. */
export interface LabService {
  /** Its process; rejects when it is down. */
  pid(): Promise<number>;
  /** Ends it in an orderly way. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again, on the same socket. */
  start(): Promise<void>;
}

/** The service of a script that has commands of these names. */
export function labServiceOf({ run }: LabScript): LabService {
  return {
    pid: async () => Number(await run("pid")),
    stop: async () => void (await run("stop")),
    kill: async () => void (await run("kill")),
    start: async () => void (await run("start")),
  };
}
