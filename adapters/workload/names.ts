import { isIP } from "node:net";
import { invalidField } from "../host/infra-error.ts";

const dnsName = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Refuses what is no name of an object of Kubernetes, and so could make another path of a request.
 * @param field what it is the name of, as `node`
 * @throws InfraError INVALID_FIELD
 */
export function assertObjectName(name: string, field: string): void {
  if (!dnsName.test(name)) {
    throw invalidField(field, "expected small letters, digits, - and . as in a DNS name");
  }
}

/**
 * Refuses what is neither an IP address nor a DNS name.
 * @throws InfraError INVALID_FIELD
 */
export function assertHost(host: string, field: string): void {
  if (isIP(host) === 0 && !dnsName.test(host.toLowerCase())) {
    throw invalidField(field, "expected an IP address or a DNS name");
  }
}

/** As it stands in an URL: an address of IPv6 is in brackets. */
export function urlHostOf(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
