/** A listener as the banner shows it. */
export interface BannerListener {
  /** `host:port` with the real port, or `unix:/path`. */
  readonly address: string;
  readonly isTls: boolean;
  /** Undefined when it serves all. */
  readonly services: readonly string[] | undefined;
}

/**
 * The lines `serve` prints when it is ready: where it listens and, for a sandbox, that it is one and a command to
 * paste.
 */
export function bannerLines(options: {
  readonly version: string;
  readonly isSandbox: boolean;
  readonly listeners: readonly BannerListener[];
}): string[] {
  const { version, isSandbox, listeners } = options;
  const what = isSandbox ? "a sandbox: nothing in it is real, nothing on this host is touched" : "this host";
  const example = listeners.find(({ services }) => services?.includes(exampleService) ?? true);
  return [
    `hostplane ${version} serves ${what}`,
    ...listeners.map((listener) => `  ${urlOf(listener)}`),
    ...(isSandbox && example !== undefined ? ["Try it:", `  ${curlLine(example)}`] : []),
  ];
}

const exampleService = "proto.VGService";

function urlOf({ address, isTls }: BannerListener): string {
  return address.startsWith("unix:") ? address : `${isTls ? "https" : "http"}://${address}`;
}

function curlLine(listener: BannerListener): string {
  const [, socket] = /^unix:(.*)$/.exec(listener.address) ?? [];
  const base = socket === undefined ? urlOf(listener) : "http://localhost";
  // The certificate's name is rarely the loopback address.
  const flags = [socket === undefined ? "" : ` --unix-socket ${socket}`, listener.isTls ? " --insecure" : ""];
  return `curl${flags.join("")} -H 'content-type: application/json' -d '{}' ${base}/${exampleService}/GetLVList`;
}
