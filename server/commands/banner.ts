/** A listener as the banner shows it. */
export interface BannerListener {
  /** `host:port` with the real port, or `unix:/path`. */
  readonly address: string;
  readonly isTls: boolean;
  /** Undefined when it serves all. */
  readonly services: readonly string[] | undefined;
}

/** The admin that this start has made. */
export interface BannerAdmin {
  readonly name: string;
  readonly password:
    | { readonly kind: "shown"; readonly text: string }
    | { readonly kind: "file"; readonly path: string }
    /** Given by HOSTPLANE_ADMIN_PASSWORD, and never shown. */
    | { readonly kind: "given" };
}

/**
 * The lines `serve` prints when it is ready: where it listens, how to log in after the first start and, for a sandbox,
 * that it is one, a command to paste, and the token for the examples of the README.
 */
export function bannerLines(options: {
  readonly version: string;
  readonly isSandbox: boolean;
  readonly listeners: readonly BannerListener[];
  /** Undefined when there were users before. */
  readonly admin: BannerAdmin | undefined;
  /** Of a sandbox, for what is to be pasted; undefined leaves it to those who need none. */
  readonly token: string | undefined;
}): string[] {
  const { version, isSandbox, listeners, admin, token } = options;
  const what = isSandbox ? "a sandbox: nothing in it is real, nothing on this host is touched" : "this host";
  const example = listeners.find(({ services }) => services?.includes(exampleService) ?? true);
  return [
    `hostplane ${version} serves ${what}`,
    ...listeners.map(
      (listener) => `  ${urlOf(listener)}${isWildcard(listener) ? " (and every other address)" : ""}`,
    ),
    ...(admin === undefined ? [] : adminLines(admin)),
    ...(admin === undefined && isSandbox ? [laterStart] : []),
    ...(isSandbox && example !== undefined ? ["Try it:", `  ${curlLine(example, token)}`] : []),
    ...(token === undefined ? [] : ["For the examples of the README:", `  export TOKEN=${token}`]),
  ];
}

/** The password is kept as a hash, and cannot be printed again. */
const laterStart =
  "The first start printed the password of admin; hostplane user passwd admin --sandbox sets another";

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

/** Whether the host is a wildcard (`0.0.0.0` or `[::]`), which is no address to connect to. */
function isWildcard({ address }: BannerListener): boolean {
  return wildcard.test(address);
}

/** What a client on this machine connects to; browsers refuse 0.0.0.0. */
function urlOf({ address, isTls }: BannerListener): string {
  return address.startsWith("unix:")
    ? address
    : `${isTls ? "https" : "http"}://${address.replace(wildcard, "127.0.0.1:")}`;
}

function curlLine(listener: BannerListener, token: string | undefined): string {
  const [, socket] = /^unix:(.*)$/.exec(listener.address) ?? [];
  const base = socket === undefined ? urlOf(listener) : "http://localhost";
  // The certificate's name is rarely the loopback address.
  const flags = [socket === undefined ? "" : ` --unix-socket ${socket}`, listener.isTls ? " --insecure" : ""];
  const login = token === undefined ? "" : ` -H 'authorization: Bearer ${token}'`;
  return `curl${flags.join("")}${login} -H 'content-type: application/json' -d '{}' ${base}/${exampleService}/GetLVList`;
}
