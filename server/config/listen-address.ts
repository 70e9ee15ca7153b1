import { isIPv6 } from "node:net";

/** Where a listener listens. Port 0 lets the system choose a free one. */
export type ListenAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** `sun_path` of unix(7) less its closing zero; macOS has four bytes less. */
const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;

/**
 * Reads `host:port`, `[ipv6]:port` or `unix:/path`. Answers with a string that says what was expected when
 * the text is none of them or is too long for a socket.
 */
export function parseListenAddress(text: string): ListenAddress | string {
  if (text.startsWith("unix:")) {
    return parseSocketPath(text.slice("unix:".length));
  }
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = (match?.[1] ?? match?.[2])?.toLowerCase();
  const port = Number(match?.[3]);
  if (match === null || host === undefined || (match[1] !== undefined && !isPlainIPv6(match[1]))) {
    return "expected host:port, [ipv6]:port or unix:/path";
  }
  if (port > 65535) {
    return "expected a port from 0 to 65535";
  }
  return { kind: "tcp", host, port };
}

/** The text of an address as a URL's host or a log would show it; equal for two spellings of one address. */
export function formatListenAddress(address: ListenAddress): string {
  if (address.kind === "unix") {
    return `unix:${address.path}`;
  }
  return `${isIPv6(address.host) ? new URL(`http://[${address.host}]`).hostname : address.host}:${address.port}`;
}

function parseSocketPath(path: string): ListenAddress | string {
  if (!path.startsWith("/") || path.endsWith("/")) {
    return "expected an absolute path after unix:";
  }
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    return `expected a path of at most ${maxSocketPathBytes} bytes, the system's limit for sockets`;
  }
  return { kind: "unix", path };
}

/** Without a zone (`fe80::1%eth0`), which no URL can hold. */
function isPlainIPv6(host: string): boolean {
  return isIPv6(host) && !host.includes("%");
}
