import { InfraError } from "../../../adapters/host/infra-error.ts";
import { fleetHostName } from "../../config/fleet-schema.ts";
import { fleetReasons } from "../reasons.ts";

/** Where a request to a hub names a host. */
export interface AddressedRequest {
  /** Path and query as sent. */
  readonly url: string;
  /** Value of the header `hostplane-host`; undefined if it was not sent. */
  readonly hostHeader: string | undefined;
  /** `fleetHost` of the listener that received the request. */
  readonly listenerHost: string | undefined;
}

/** The host that a request names. */
export interface HostAddress {
  /** Undefined if nothing names a host. */
  readonly host: string | undefined;
  /** Whether the request itself names it, not only its listener. */
  readonly isNamedByRequest: boolean;
  /** Path and query on the host. */
  readonly url: string;
}

const prefix = "/hosts/";

/** A segment that a proxy or a client library would resolve against the segments before it, also with encoded dots. */
const dotSegment = /^(?:\.|%2e){1,2}$/i;

/**
 * Reads which host a request names: by the path `/hosts/NAME/...`, by the header `hostplane-host`, or by its listener. A host may
 * be named twice, but not two hosts.
 * @throws InfraError HOST_NAME_INVALID
 */
export function parseHostAddress({ url, hostHeader, listenerHost }: AddressedRequest): HostAddress {
  const path = url.startsWith(prefix) ? pathAddressOf(url) : undefined;
  if (hostHeader !== undefined) {
    assertName(hostHeader, "the header hostplane-host");
  }
  const named = [path?.host, hostHeader, listenerHost].filter((name) => name !== undefined);
  const [host, ...others] = new Set(named);
  if (others.length > 0) {
    throw invalid(`the call names several hosts: ${[host, ...others].join(", ")}`);
  }
  return {
    host,
    isNamedByRequest: path !== undefined || hostHeader !== undefined,
    url: path?.url ?? url,
  };
}

function pathAddressOf(url: string): { readonly host: string; readonly url: string } {
  const [path = "", ...query] = url.split("?");
  const [, , host = "", ...segments] = path.split("/");
  assertName(host, "the path");
  if (segments.some((segment) => dotSegment.test(segment))) {
    throw invalid(`the path below ${prefix}${host} must not contain "." or ".." as a segment`);
  }
  if (segments[0] === "hosts") {
    throw invalid("the path names several hosts");
  }
  return { host, url: [`/${segments.join("/")}`, ...query].join("?") };
}

function assertName(name: string, where: string): void {
  if (name.includes(",")) {
    throw invalid(`${where} must name one host, and be sent once`);
  }
  if (!fleetHostName.safeParse(name).success) {
    const shown = name.length <= 100 ? name : `${name.slice(0, 100)}…`;
    throw invalid(
      `${where} names ${JSON.stringify(shown)}; the name of a host has 1 to 63 lower-case letters, digits and '-'`,
    );
  }
}

function invalid(message: string): InfraError {
  return new InfraError(fleetReasons.HOST_NAME_INVALID, message);
}
