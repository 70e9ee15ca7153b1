import type { FakeRange } from "./addresses.ts";
import { defaultAddressPrefix, type FakeEvent, type FakeImage } from "./region.ts";

// Replies as MAAS 3.4.10 writes them, complete with fields that the gateway does not use, for other clients.

/** Prefix of all `resource_uri`. */
export const base = "/MAAS/api/2.0";

/** Returns an availability zone. */
export function renderZone(name: string) {
  return { name, description: "", id: 1, resource_uri: `${base}/zones/${name}/` };
}

/** Returns a resource pool. MAAS itself creates the one with ID 0. */
export function renderPool(name: string, id: number) {
  const description = id === 0 ? "Default pool" : "";
  return { name, description, id, resource_uri: `${base}/resourcepool/${id}/` };
}

/** Returns a tag that is set by hand: it has no definition by which MAAS would set it. */
export function renderTag(name: string) {
  return { name, definition: "", comment: "", kernel_opts: "", resource_uri: `${base}/tags/${name}/` };
}

export const renderedDomain = {
  authoritative: true,
  ttl: null,
  id: 0,
  resource_record_count: 0,
  is_default: true,
  name: "maas",
  resource_uri: `${base}/domains/0/`,
};

export const renderedVlan = {
  vid: 0,
  mtu: 1500,
  dhcp_on: true,
  external_dhcp: null,
  relay_vlan: null,
  fabric: "fabric-0",
  id: 1,
  space: "undefined",
  fabric_id: 0,
  secondary_rack: null,
  primary_rack: null,
  name: "untagged",
  resource_uri: `${base}/vlans/1/`,
};

/** Returns the only subnet, e.g. `10.20.0.0/24`. */
export function subnetOf(addressPrefix = defaultAddressPrefix): string {
  return `${addressPrefix}.0/24`;
}

/**
 * Returns the subnet.
 * @param addressPrefix the first three bytes, e.g. `10.20.0`
 * @param isManaged whether MAAS assigns its addresses
 */
export function renderSubnet(addressPrefix = defaultAddressPrefix, isManaged = true) {
  return {
    name: subnetOf(addressPrefix),
    description: "",
    vlan: renderedVlan,
    cidr: subnetOf(addressPrefix),
    rdns_mode: 2,
    gateway_ip: `${addressPrefix}.1`,
    dns_servers: [],
    allow_dns: true,
    allow_proxy: true,
    active_discovery: false,
    managed: isManaged,
    disabled_boot_architectures: [],
    id: 1,
    space: "undefined",
    resource_uri: `${base}/subnets/1/`,
  };
}

/** Renders the only space, which MAAS uses for subnets without a space. */
export function renderSpace(subnet: ReturnType<typeof renderSubnet>) {
  return {
    id: -1,
    name: "undefined",
    vlans: [renderedVlan],
    subnets: [subnet],
    resource_uri: `${base}/spaces/undefined/`,
  };
}

/** Renders a range that an administrator has reserved. @param id its position, from 1 */
export function renderRange(
  { type, first, last }: FakeRange,
  id: number,
  addressPrefix = defaultAddressPrefix,
  isManaged = true,
) {
  return {
    id,
    type,
    start_ip: `${addressPrefix}.${first}`,
    end_ip: `${addressPrefix}.${last}`,
    comment: "",
    user: null,
    subnet: renderSubnet(addressPrefix, isManaged),
    resource_uri: `${base}/ipranges/${id}/`,
  };
}

/** @param ip in the subnet */
export function renderAddress(ip: string, username: string, createdAtMs: number) {
  return {
    created: new Date(createdAtMs).toISOString().slice(0, -1),
    ip,
    alloc_type: 4,
    subnet: renderSubnet(ip.slice(0, ip.lastIndexOf("."))),
    alloc_type_name: "User reserved",
    interface_set: [],
    owner: renderUser(username, false),
    resource_uri: `${base}/ipaddresses/`,
  };
}

/** Returns an account, as `users/?op=whoami` does. */
export function renderUser(username: string, isAdmin: boolean) {
  return {
    is_superuser: isAdmin,
    username,
    email: `${username}@sandbox.invalid`,
    is_local: true,
    resource_uri: `${base}/users/${username}/`,
  };
}

/** Returns a boot resource. Only an uploaded one has a title. */
export function renderImage({ name, type, architecture = "amd64/generic" }: FakeImage, id: number) {
  return {
    id,
    type,
    name,
    architecture,
    resource_uri: `${base}/boot-resources/${id}/`,
    last_deployed: null,
    platform: "generic",
    supported_platforms: "generic",
    subarches: "generic",
    ...(type === "Uploaded" ? { title: name } : {}),
  };
}

/** Formats a time in UTC, e.g. `Sat, 21 Nov. 2026 00:19:06`. */
export function renderEventTime(atMs: number): string {
  const [day, date, month, year, time] = new Date(atMs).toUTCString().split(" ");
  return `${day} ${date} ${month}. ${year} ${time}`;
}

/** Returns an event of a machine. Its time has MAAS's own format, in whole seconds. */
export function renderEvent({ id, systemId, hostname, type, description, atMs }: FakeEvent) {
  const created = renderEventTime(atMs);
  return { username: "unknown", node: systemId, hostname, id, level: "INFO", created, type, description };
}
