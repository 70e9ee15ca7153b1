import { homedir } from "node:os";
import { join } from "node:path";
import { invalidField } from "../../host/infra-error.ts";

export interface LibvirtAddress {
  readonly socketPath: string;
  /** The URI that the daemon itself opens, without the transport. */
  readonly uri: string;
}

/**
 * Parses a local libvirt URI: `qemu:///system`, `qemu:///session`, `test:///default`, each also with `+unix` and
 * `?socket=/path`. By default, the socket of a session is below XDG_RUNTIME_DIR (or the user's cache), and all others
 * are the system's.
 * @throws InfraError INVALID_FIELD `uri`, also for a remote machine: only unix sockets are supported
 */
export function parseLibvirtUri(
  uri: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): LibvirtAddress {
  const url = URL.parse(uri);
  const [, scheme, transport] = /^([a-z]+)(?:\+([a-z0-9]+))?:$/.exec(url?.protocol ?? "") ?? [];
  if (url === null || scheme === undefined || !/^[a-z+0-9]+:\/\/\//i.test(uri)) {
    throw invalidField("uri", `must be a local URI such as qemu:///system, is ${uri}`);
  }
  if (transport !== undefined && transport !== "unix") {
    throw invalidField("uri", `unsupported transport ${transport} (supported: unix)`);
  }
  const socketPath = url.searchParams.get("socket");
  if (socketPath !== null && !socketPath.startsWith("/")) {
    throw invalidField("uri", "socket must be an absolute path");
  }
  return {
    socketPath: socketPath ?? defaultSocketPath(url.pathname, environment),
    uri: `${scheme}://${url.pathname}`,
  };
}

function defaultSocketPath(path: string, environment: Readonly<Record<string, string | undefined>>): string {
  if (path !== "/session") {
    return "/run/libvirt/libvirt-sock";
  }
  const runtime = environment.XDG_RUNTIME_DIR;
  const cache = environment.XDG_CACHE_HOME ?? join(environment.HOME ?? homedir(), ".cache");
  return join(runtime === undefined || runtime === "" ? cache : runtime, "libvirt", "libvirt-sock");
}
