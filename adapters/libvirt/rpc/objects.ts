import {
  array,
  bool,
  double,
  fixedOpaque,
  hyper,
  int,
  mapped,
  optional,
  type Static,
  string,
  struct,
  uhyper,
  uint,
  union,
} from "./xdr.ts";

// Shared by procedures and events: the encoding of libvirt's objects, and the limits of lists.

/** Names, XML and messages: libvirt's own limit. */
export const text = string(4 << 20);
export const optionalText = optional(text);

const uuidSizeBytes = 16;

/** Sixteen bytes on the wire, decoded to `8e7ad4c2-…`. */
export const uuid = mapped(fixedOpaque(uuidSizeBytes), uuidText, uuidBytes);

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function uuidBytes(value: string): Uint8Array {
  return Buffer.from(value.replaceAll("-", ""), "hex");
}

/** Identifies a domain. `id` is -1 while it is not running; libvirt looks up the domain by its UUID. */
export const domainRef = struct({ name: text, uuid, id: int });
export type DomainRef = Static<typeof domainRef>;

export const networkRef = struct({ name: text, uuid });

export const storagePoolRef = struct({ name: text, uuid });
export type StoragePoolRef = Static<typeof storagePoolRef>;

/** `pool` is the pool's name; `key` identifies the volume in its pool and is often its path. */
export const storageVolRef = struct({ pool: text, name: text, key: text });
export type StorageVolRef = Static<typeof storageVolRef>;

export const nodeDeviceRef = struct({ name: text });
export type NodeDeviceRef = Static<typeof nodeDeviceRef>;

/** A named value, e.g. `cpu.time`, in statistics and jobs. */
export const typedParam = struct({
  field: text,
  value: union({
    int: [1, int],
    uint: [2, uint],
    llong: [3, hyper],
    ullong: [4, uhyper],
    double: [5, double],
    boolean: [6, bool],
    string: [7, text],
  }),
});
export type TypedParam = Static<typeof typedParam>;

/** libvirt's own limits of lists. */
export const limits = {
  objects: 16_384,
  nodeDevices: 65_536,
  interfaces: 2_048,
  jobStats: 64,
  domainStats: 262_144,
  authTypes: 20,
} as const;

export const jobParams = array(typedParam, limits.jobStats);

/** A refusal by libvirt. The fields after `level` only repeat the message. */
export const remoteError = struct({
  code: int,
  domain: int,
  message: optionalText,
  level: int,
  dom: optional(domainRef),
  str1: optionalText,
  str2: optionalText,
  str3: optionalText,
  int1: int,
  int2: int,
  net: optional(networkRef),
});
export type RemoteError = Static<typeof remoteError>;
