import { isIP } from "node:net";
import { invalidField } from "../host/infra-error.ts";

/** An API key, as shown on MAAS's page of a user's keys: `consumer:token:secret`. */
export interface MaasApiKey {
  readonly consumer: string;
  readonly token: string;
  /** A password. */
  readonly secret: string;
}

/** @throws InfraError INVALID_FIELD, whose message contains no part of the key */
export function parseApiKey(text: string, field: string): MaasApiKey {
  // Trimmed, since a file with the key usually ends with a newline.
  const match = /^([\x21-\x39\x3b-\x7e]+):([\x21-\x39\x3b-\x7e]+):([\x21-\x39\x3b-\x7e]+)$/.exec(text.trim());
  const [, consumer, token, secret] = match ?? [];
  if (consumer === undefined || token === undefined || secret === undefined) {
    throw invalidField(field, "must be three parts separated by colons, as MAAS shows an API key");
  }
  return { consumer, token, secret };
}

/**
 * Normalizes the URL of a MAAS, e.g. to `http://maas:5240/MAAS`, whether or not it has the path, a trailing slash or
 * `/api/2.0/`.
 * @throws InfraError INVALID_FIELD
 */
export function parseMaasUrl(text: string, field: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalidField(field, "must be a URL such as http://maas:5240/MAAS");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw invalidField(field, "must not contain a password, ? or #");
  }
  const path = url.pathname.replace(/\/+$/, "").replace(/\/api\/2\.0$/, "");
  return `${url.origin}${path === "" ? "/MAAS" : path}`;
}

/** Checks a MAAS id: a number in base 24, with digits that are hard to confuse. @throws InfraError INVALID_FIELD */
export function assertSystemId(systemId: string, field: string): void {
  if (!/^[34678abcdefghkmnpqrstwxy]{6}$/.test(systemId)) {
    throw invalidField(field, "must be six of the characters 34678abcdefghkmnpqrstwxy");
  }
}

/** Checks a name such as `kaas/1f6a/slot-7`. @throws InfraError INVALID_FIELD */
export function assertAgentName(name: string, field: string): void {
  if (!/^[A-Za-z0-9][\w./:-]{0,254}$/.test(name)) {
    throw invalidField(field, "must be up to 255 letters, digits and ./:-_, the first a letter or a digit");
  }
}

const maxAnnotationLength = 4096;

/**
 * Rejects keys for which MAAS fails, and `op`, which MAAS interprets as an operation and drops.
 * @throws InfraError INVALID_FIELD
 */
export function assertAnnotation(key: string, value: string | undefined, field: string): void {
  if (!/^[\w.-]{1,255}$/.test(key) || key === "op") {
    throw invalidField(field, "must have keys of up to 255 letters, digits and .-_, and must not be op");
  }
  if (value === "" || (value !== undefined && (value.length > maxAnnotationLength || hasControls(value)))) {
    throw invalidField(
      field,
      `must have values of 1 to ${maxAnnotationLength} characters without control characters`,
    );
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertTag(tag: string, field: string): void {
  if (!/^[\w-]{1,256}$/.test(tag)) {
    throw invalidField(field, "must be up to 256 letters, digits and -_");
  }
}

/** Checks the name of a pool or a zone. @throws InfraError INVALID_FIELD */
export function assertPlaceName(name: string, field: string): void {
  if (!/^\w[\w -]{0,255}$/.test(name)) {
    throw invalidField(
      field,
      "must be up to 256 letters, digits, spaces and -_, not starting with - or a space",
    );
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertArchitecture(architecture: string, field: string): void {
  if (!/^[a-z0-9_]{1,32}(\/[\w.-]{1,64})?$/.test(architecture)) {
    throw invalidField(field, "must be e.g. amd64 or amd64/generic");
  }
}

/**
 * Checks the name of an image or a kernel, e.g. `ubuntu/noble` or `os=noble,k8s=1.36.3,gpu`. @throws InfraError
 * INVALID_FIELD
 */
export function assertSeries(series: string, field: string): void {
  if (!/^[A-Za-z0-9][\w.=,+/-]{0,254}$/.test(series)) {
    throw invalidField(field, "must be up to 255 letters, digits and .=,+/-_, the first a letter or a digit");
  }
}

/** Checks the name of an account. @throws InfraError INVALID_FIELD */
export function assertUsername(username: string, field: string): void {
  if (!/^[\w.@+-]{1,150}$/.test(username)) {
    throw invalidField(field, "must be up to 150 letters, digits and .@+-_");
  }
}

/** Checks a comment for MAAS's event log. @throws InfraError INVALID_FIELD */
export function assertComment(comment: string, field: string): void {
  if (comment.length > 1024 || hasControls(comment)) {
    throw invalidField(field, "must be up to 1024 characters without control characters");
  }
}

/** Checks an IPv4 or IPv6 address. @throws InfraError INVALID_FIELD */
export function assertAddress(address: string, field: string): void {
  if (isIP(address) === 0 || address.includes("%")) {
    throw invalidField(field, "must be an IP address");
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertSubnet(subnet: string, field: string): void {
  const [, address = "", length = ""] = /^([^/]+)\/([0-9]{1,3})$/.exec(subnet) ?? [];
  const version = isIP(address);
  if (version === 0 || address.includes("%") || Number(length) > (version === 4 ? 32 : 128)) {
    throw invalidField(field, "must be a subnet such as 10.20.0.0/24");
  }
}

/** Checks a DNS name, with or without a domain. @throws InfraError INVALID_FIELD */
export function assertHostname(hostname: string, field: string): void {
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
  if (hostname.length > 253 || !hostname.split(".").every((part) => label.test(part))) {
    throw invalidField(field, "must be a DNS name in lower case");
  }
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
