import { dirname } from "node:path";
import { parseListenAddress } from "../../config/listen-address.ts";

const another = "choose another address with --listen";

type Fixes = Readonly<Record<string, string>>;

/** What the user can do about an address that cannot be bound, by the system's error code. */
const tcpFixes: Fixes = {
  EADDRINUSE: `another program uses it, perhaps another hostplane: stop that program, or ${another}`,
  EACCES: `this user may not use it: ports below 1024 need root or CAP_NET_BIND_SERVICE; or ${another}`,
  EADDRNOTAVAIL: `this host does not have that IP address: ${another}`,
  ENOTFOUND: `the name has no IP address: ${another}`,
};

function socketFixes(path: string): Fixes {
  const directory = dirname(path);
  return {
    EADDRINUSE: `another program listens on this socket, perhaps another hostplane: stop that program, or ${another}`,
    EEXIST: `a file that is not a socket has this path: remove it, or ${another}`,
    EACCES: `this user may not create a socket in ${directory}: give it write access to that directory, or ${another}`,
    EROFS: `${directory} is on a read-only file system: ${another}`,
    ENOENT: `the directory ${directory} does not exist: create it, or ${another}`,
    ENOTDIR: `${directory} is not a directory: ${another}`,
  };
}

/**
 * Returns an error for the user about an address that cannot be bound.
 * @param text the address as configured
 */
export function explainListenFailure(error: unknown, text: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const address = parseListenAddress(text);
  const isSocket = typeof address === "object" && address.kind === "unix";
  const fix = (isSocket ? socketFixes(address.path) : tcpFixes)[code];
  // Without the cause, because the command line would append its message.
  return fix === undefined ? error : new Error(`cannot listen on ${text} (${code}): ${fix}`);
}
