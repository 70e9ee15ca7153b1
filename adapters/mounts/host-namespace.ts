import { existsSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import { mountReasons } from "./reasons.ts";

/** Where the mounts of the host are, as the gateway sees them. */
export interface HostNamespace {
  /** Directory that stands for `/` of the host; empty if the gateway is in the host's mount namespace. */
  readonly root: string;
  readonly mountInfoPath: string;
  /**
   * Returns the argv that runs a program of the host in the host's mount namespace.
   * @throws InfraError TOOL_MISSING
   */
  argvOf(program: string, args: readonly string[]): string[];
}

/** The gateway's PATH may differ from that of the host, and a relative one would depend on the working directory. */
const programDirectories = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];

/**
 * Finds the mount namespace of the host, that of process 1. systemd gives a service a private one with some of its settings, such
 * as ProtectSystem; a mount there would be invisible to the kubelet.
 * @throws InfraError MOUNTS_UNAVAILABLE if the gateway may not see it
 */
export async function findHostNamespace(): Promise<HostNamespace> {
  const [own, host] = await Promise.all(
    ["self", "1"].map((pid) =>
      readlink(`/proc/${pid}/ns/mnt`).catch((cause: unknown) => {
        throw new InfraError(
          mountReasons.MOUNTS_UNAVAILABLE,
          "the mount namespace of process 1 is invisible: the gateway needs root with CAP_SYS_PTRACE, and ProtectProc=default",
          { cause },
        );
      }),
    ),
  );
  if (own === host) {
    return {
      root: "",
      mountInfoPath: "/proc/self/mountinfo",
      argvOf: (program, args) => [programPathOf("", program), ...args],
    };
  }
  const root = "/proc/1/root";
  return {
    root,
    mountInfoPath: "/proc/1/mountinfo",
    argvOf: (program, args) => [
      programPathOf("", "nsenter"),
      ...["--mount=/proc/1/ns/mnt", "--", programPathOf(root, program)],
      ...args,
    ],
  };
}

function programPathOf(root: string, program: string): string {
  const path = programDirectories
    .map((directory) => join(directory, program))
    .find((each) => existsSync(root + each));
  if (path === undefined) {
    const places = programDirectories.join(", ");
    throw new InfraError(hostReasons.TOOL_MISSING, `${program} is not installed (looked in ${places})`);
  }
  return path;
}
