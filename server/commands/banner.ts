/**
 * The lines `serve` prints when it is ready: where it listens and, for a sandbox, that it is one and a command to
 * paste.
 * @param addresses as `Gateway.addresses` has them: URLs, `host:port` or `unix:/path`
 */
export function bannerLines(options: {
  readonly version: string;
  readonly isSandbox: boolean;
  readonly addresses: readonly string[];
}): string[] {
  const { version, isSandbox, addresses } = options;
  const what = isSandbox ? "a sandbox: nothing in it is real, nothing on this host is touched" : "this host";
  const [first] = addresses;
  return [
    `hostplane ${version} serves ${what}`,
    ...addresses.map((address) => `  ${urlFromAddress(address)}`),
    ...(isSandbox && first !== undefined ? ["Try it:", `  ${curlLine(first)}`] : []),
  ];
}

/** `http://127.0.0.1:8080` for a TCP address; the address itself if it is a URL or a socket. */
export function urlFromAddress(address: string): string {
  return address.startsWith("unix:") || address.includes("://") ? address : `http://${address}`;
}

function curlLine(address: string): string {
  const isSocket = address.startsWith("unix:");
  const base = isSocket ? "http://localhost" : urlFromAddress(address);
  const socket = isSocket ? ` --unix-socket ${address.slice("unix:".length)}` : "";
  return `curl${socket} -H 'content-type: application/json' -d '{}' ${base}/proto.VGService/GetLVList`;
}
