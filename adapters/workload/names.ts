import { isIP } from "node:net";
import { invalidField } from "../host/infra-error.ts";

const dnsName = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Rejects invalid names of Kubernetes objects, which could change a request's path.
 * @param field what the name is for, e.g. `node`
 * @throws InfraError INVALID_FIELD
 */
export function assertObjectName(name: string, field: string): void {
  if (!dnsName.test(name)) {
    throw invalidField(field, "expected lower-case letters, digits, - and ., as in a DNS name");
  }
}

/**
 * Rejects anything but an IP address or a DNS name.
 * @throws InfraError INVALID_FIELD
 */
export function assertHost(host: string, field: string): void {
  if (isIP(host) === 0 && !dnsName.test(host.toLowerCase())) {
    throw invalidField(field, "expected an IP address or a DNS name");
  }
}

/** Returns the host as in a URL: with brackets around an IPv6 address. */
export function urlHostOf(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
