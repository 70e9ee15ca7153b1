import { isIPv6 } from "node:net";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { isLoopbackHost, unmapped } from "../../config/address-range.ts";
import type { ListenAddress } from "../../config/listen-address.ts";
import { authorityOf, type HttpRequest } from "../protocols/http/http-exchange.ts";
import { rpcReasons } from "../reasons.ts";

export interface GuardedListener {
  readonly address: ListenAddress;
  /** Whether everyone who reaches it may call, without a login. */
  readonly isOpen: boolean;
  readonly isTls: boolean;
  /** Whether it accepts requests marked by a proxy although it is open. */
  readonly allowsForwarded: boolean;
  /** Further names that clients reach it by. */
  readonly hosts: readonly string[];
}

const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Added by proxies, as are `x-forwarded-*`. */
const forwardedHeaders: ReadonlySet<string> = new Set(["forwarded", "via", "x-real-ip"]);

/**
 * Creates the check that keeps foreign web pages and proxies out of a listener:
 *
 * - A page whose name was made to resolve to this machine (DNS rebinding) is recognised by its Host. On listeners beyond loopback
 * that need a login any Host is accepted: such a page has no token.
 * - Any other page is recognised by its Origin, which must be the listener itself or one of `origins`. Browsers reach a unix
 * socket only through a proxy: if it needs no login, its mode decides who may call.
 * - Behind a proxy every client has the proxy's address, which defeats `allowFrom` and loopback. A TCP listener without login
 * therefore refuses requests that a proxy has marked, unless `allowForwarded` is set.
 *
 * @param origins those configured for CORS
 * @returns a function that returns HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED or FORWARDED_NOT_ALLOWED for a request to refuse
 */
export function createBrowserGuard(
  listener: GuardedListener,
  origins: readonly string[],
): (request: HttpRequest) => InfraError | undefined {
  const { address, isOpen, isTls, allowsForwarded } = listener;
  const isTcp = address.kind === "tcp";
  const checksOrigin = isTcp || !isOpen;
  const checksHost = isTcp && (isOpen || isLoopbackHost(address.host));
  const names = new Set(
    [...loopbackNames, ...(isTcp ? [address.host] : []), ...listener.hosts].map(canonicalHost),
  );

  function isNameOf({ socket }: HttpRequest, name: string): boolean {
    const host = canonicalHost(name);
    return names.has(host) || host === canonicalHost(socket.localAddress ?? "");
  }

  return (request) => {
    const authority = authorityOf(request);
    if (checksHost && authority !== "") {
      const name = authority.replace(/:\d*$/, "");
      if (!names.has(name) && !isNameOf(request, name)) {
        return new InfraError(
          rpcReasons.HOST_NOT_ALLOWED,
          `the host ${name} is not allowed on this listener; add it to the listener's hosts if clients use it`,
        );
      }
    }
    const { origin } = request.headers;
    if (
      checksOrigin &&
      origin !== undefined &&
      !origins.includes(origin) &&
      !isSameOrigin(origin, authority, isTls)
    ) {
      return new InfraError(rpcReasons.ORIGIN_NOT_ALLOWED, `the origin ${origin} is not in cors.origins`);
    }
    if (isOpen && isTcp && !allowsForwarded) {
      const mark = Object.keys(request.headers).find(
        (name) => forwardedHeaders.has(name) || name.startsWith("x-forwarded-"),
      );
      if (mark !== undefined) {
        return new InfraError(
          rpcReasons.FORWARDED_NOT_ALLOWED,
          `the header ${mark} shows that a proxy forwarded the request; a listener without login refuses this unless it has allowForwarded: true`,
        );
      }
    }
    return undefined;
  };
}

/**
 * Reports whether `origin` is that of the pages of `authority`. For a cleartext listener the scheme may be https, because a proxy
 * may terminate TLS for it; a TLS listener has no cleartext pages.
 */
export function isSameOrigin(origin: string, authority: string, isTls: boolean): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0];
  if (scheme === undefined || (isTls && scheme !== "https://") || !URL.canParse(scheme + authority)) {
    return false;
  }
  return origin === new URL(scheme + authority).origin;
}

/** Normalizes a host: lower case, IPv6 shortened and in brackets, IPv4-mapped IPv6 as IPv4. */
function canonicalHost(host: string): string {
  const bare = unmapped(host.toLowerCase().replace(/^\[(.*)\]$/, "$1"));
  return bare.includes(":") && isIPv6(bare) && !bare.includes("%")
    ? new URL(`http://[${bare}]`).hostname
    : bare;
}
