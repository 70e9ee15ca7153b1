/** A listener, as shown in the banner. */
export interface BannerListener {
  /** `host:port` with the real port, or `unix:/path`. */
  readonly address: string;
  readonly isTls: boolean;
  /** Undefined when it serves all services. */
  readonly services: readonly string[] | undefined;
}

/** The admin user created by this start. */
export interface BannerAdmin {
  readonly name: string;
  readonly password:
    | { readonly kind: "shown"; readonly text: string }
    | { readonly kind: "file"; readonly path: string }
    /** Taken from HOSTPLANE_ADMIN_PASSWORD and never shown. */
    | { readonly kind: "given" };
}

/**
 * Returns the lines that `serve` prints when it is ready: its addresses and, after the first start, how to log in. For a
 * sandbox also a notice that it is one, a link that logs in, a command to paste, and the token for the examples of the documentation.
 */
export function bannerLines(options: {
  readonly version: string;
  readonly isSandbox: boolean;
  /** A hub has no volumes for the command to paste. */
  readonly isHub?: boolean;
  readonly listeners: readonly BannerListener[];
  /** Undefined when users already existed. */
  readonly admin: BannerAdmin | undefined;
  /** The sandbox's token, for the commands to paste. Undefined for a real gateway. */
  readonly token: string | undefined;
  /** Path that logs in once, in a browser. Undefined for a real gateway. */
  readonly loginPath: string | undefined;
}): string[] {
  const { version, isSandbox, isHub = false, listeners, admin, token, loginPath } = options;
  const what = isSandbox ? "a sandbox (simulated systems only; this host is not touched)" : "this host";
  const example = listeners.find(({ services }) => services?.includes(exampleService) ?? true);
  const page = listeners.find(
    ({ address, services }) => services === undefined && !address.startsWith("unix:"),
  );
  return [
    `hostplane ${version} serves ${what}`,
    ...listeners.map(
      (listener) => `  ${urlOf(listener)}${isWildcard(listener) ? " (and every other address)" : ""}`,
    ),
    ...(page === undefined || loginPath === undefined
      ? []
      : ["Open the dashboard (this link logs in once):", `  ${urlOf(page)}${loginPath}`]),
    ...(admin === undefined ? [] : adminLines(admin)),
    ...(admin === undefined && isSandbox ? [laterStart] : []),
    ...(isSandbox && !isHub && example !== undefined ? ["Try it:", `  ${curlLine(example, token)}`] : []),
    ...(token === undefined ? [] : ["For the examples of the documentation:", `  export TOKEN=${token}`]),
  ];
}

/** Only the password's hash is stored, so it cannot be printed again. */
const laterStart =
  "The admin password was printed at the first start; to set a new one run: hostplane user passwd admin --sandbox";

function adminLines({ name, password }: BannerAdmin): string[] {
  switch (password.kind) {
    case "shown":
      return [`First start: log in as ${name} with the password ${password.text}`];
    case "file":
      return [
        `First start: log in as ${name} with the password in ${password.path}`,
        `  then choose your own (hostplane user passwd ${name}) and remove the file`,
      ];
    case "given":
      return [`First start: log in as ${name} with the password of HOSTPLANE_ADMIN_PASSWORD`];
  }
}

const exampleService = "proto.VGService";

const wildcard = /^(?:0\.0\.0\.0|\[::\]):/;

/** Reports whether the host is a wildcard (`0.0.0.0` or `[::]`), which clients cannot connect to. */
function isWildcard({ address }: BannerListener): boolean {
  return wildcard.test(address);
}

/** Returns the URL for clients on this machine. Browsers refuse 0.0.0.0. */
function urlOf({ address, isTls }: BannerListener): string {
  return address.startsWith("unix:")
    ? address
    : `${isTls ? "https" : "http"}://${address.replace(wildcard, "127.0.0.1:")}`;
}

function curlLine(listener: BannerListener, token: string | undefined): string {
  const [, socket] = /^unix:(.*)$/.exec(listener.address) ?? [];
  const base = socket === undefined ? urlOf(listener) : "http://localhost";
  // The certificate is rarely issued for the loopback address.
  const flags = [socket === undefined ? "" : ` --unix-socket ${socket}`, listener.isTls ? " --insecure" : ""];
  const login = token === undefined ? "" : ` -H 'authorization: Bearer ${token}'`;
  return `curl${flags.join("")}${login} -H 'content-type: application/json' -d '{}' ${base}/${exampleService}/GetLVList`;
}
