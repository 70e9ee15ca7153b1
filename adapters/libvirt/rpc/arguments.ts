import { text, uuid } from "./objects.ts";
import { bool, struct, uint } from "./xdr.ts";

// Types shared by the arguments and results of many procedures.

/** Bits, as defined by the constants of libvirt's C API. */
export const flags = uint;
export const none = struct({});
export const nameOnly = struct({ name: text });
export const uuidOnly = struct({ uuid });
/** Without `needResults`, only the count is returned. */
export const listArgs = struct({ needResults: bool, flags });
export const xmlFlags = struct({ xml: text, flags });
export const xml = struct({ xml: text });
export const active = struct({ active: bool });
