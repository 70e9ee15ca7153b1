import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { freePort } from "../../server/harness/free-port.ts";

const scriptPath = fileURLToPath(new URL("vm.sh", import.meta.url));

export interface VmOptions {
  /** Name of the machine in messages; the process id is added, so that tests may run in parallel. */
  readonly name: string;
  /** Sizes of the data disks in the format of truncate(1) ("2G"); they are /dev/vdb, /dev/vdc, ... */
  readonly disks: readonly string[];
  /** Default: 640. */
  readonly memoryMib?: number;
  /** TCP ports of the machine that this host can reach; see `Vm.hostPort`. */
  readonly forwards?: readonly number[];
}

export interface VmResult {
  /** Exit code of the command; 255 also when ssh itself failed, which stderr then says. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Vm {
  /** Directory of this host that is /share in the machine, writable there; it is deleted by `stop`. */
  readonly shareDir: string;
  /** Returns the port of 127.0.0.1 that is forwarded to a port in `forwards`. */
  hostPort(guestPort: number): number;
  /**
   * Runs a command as root in /repo with empty stdin: a string as a shell command line, an array as one
   * program with its arguments. A command that takes longer than `timeoutMs` (default 60 s) is killed in the
   * machine and the promise rejects; any exit code resolves.
   */
  run(command: string | readonly string[], options?: { readonly timeoutMs?: number }): Promise<VmResult>;
  /** Powers the machine off and deletes its disks. */
  stop(): Promise<void>;
}

/**
 * Returns why tests in a machine cannot run here, or false. For tap's `skip` option. With HOSTPLANE_LAB=required it is always
 * false: such a test then fails by itself instead of being skipped.
 */
export async function vmSkipReason(): Promise<string | false> {
  if (process.env.HOSTPLANE_LAB === "required") {
    return false;
  }
  if (process.platform !== "linux" || process.arch !== "x64") {
    return "the virtual machine needs Linux on x86_64";
  }
  if (process.getuid?.() !== 0) {
    return "the virtual machine needs root";
  }
  const found = await execute("sh", ["-c", "command -v qemu-system-x86_64"], {}, 10_000);
  return found.exitCode === 0 ? false : "qemu-system-x86_64 is missing; HOSTPLANE_LAB=required installs it";
}

/**
 * Boots a machine with vm.sh (about 5 s, and a minute more if its image has to be built). It is destroyed by `stop`, or when this
 * process ends without calling it. Rejects with the output of vm.sh if it does not boot.
 */
export async function createVm({ name, disks, memoryMib = 640, forwards = [] }: VmOptions): Promise<Vm> {
  const vmName = `${name}-${process.pid}`;
  const hostPorts = new Map<number, number>();
  for (const guestPort of forwards) {
    hostPorts.set(guestPort, await freePort());
  }
  const home = process.env.VM_HOME ?? "/var/lib/hostplane-lab";
  const shareDir = `${home}/machines/${vmName}/share`;
  const environment = {
    VM_NAME: vmName,
    VM_SHARE: shareDir,
    VM_DISKS: disks.join(" "),
    VM_MEMORY_MIB: String(memoryMib),
    VM_FORWARDS: [...hostPorts].map(([guest, host]) => `${host}:${guest}`).join(" "),
    VM_OWNER_PID: String(process.pid),
  };
  const script = (args: readonly string[], timeoutMs: number) =>
    execute(scriptPath, args, environment, timeoutMs);

  const started = await script(["up"], 900_000);
  if (started.exitCode !== 0) {
    await script(["destroy"], 60_000);
    throw new Error(`the virtual machine ${vmName} did not start: ${started.stderr.trim()}`);
  }

  return {
    shareDir,
    hostPort(guestPort) {
      const port = hostPorts.get(guestPort);
      if (port === undefined) {
        throw new Error(`port ${guestPort} is not among the forwards`);
      }
      return port;
    },
    async run(command, { timeoutMs = 60_000 } = {}) {
      const line = typeof command === "string" ? command : command.map(quoted).join(" ");
      const startedAt = Date.now();
      // timeout(1) kills the command in the machine; killing ssh here would leave it running there.
      const result = await script(
        ["run", `timeout -k 2 ${timeoutMs / 1000} sh -c ${quoted(line)}`],
        timeoutMs + 15_000,
      );
      const killed = result.exitCode === 124 || result.exitCode === 137;
      if (killed && Date.now() - startedAt >= timeoutMs) {
        throw new Error(`timed out after ${timeoutMs} ms: ${line}\n${result.stderr}`);
      }
      return result;
    },
    async stop() {
      const stopped = await script(["destroy"], 60_000);
      if (stopped.exitCode !== 0) {
        throw new Error(`cannot stop ${vmName}: ${stopped.stderr.trim()}`);
      }
    },
  };
}

function execute(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<VmResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { env: { ...process.env, ...environment }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve({ exitCode: 0, stdout, stderr });
        } else if (typeof error.code === "number") {
          resolve({ exitCode: error.code, stdout, stderr });
        } else {
          reject(error);
        }
      },
    );
    child.stdin?.end();
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
