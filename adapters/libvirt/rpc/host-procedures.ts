import { active, flags, listArgs, nameOnly, none, xml } from "./arguments.ts";
import {
  domainRef,
  limits,
  networkRef,
  nodeDeviceRef,
  optionalText,
  storagePoolRef,
  text,
} from "./objects.ts";
import { procedure } from "./procedure.ts";
import { array, bool, hyper, int, nothing, optional, struct, uhyper, uint } from "./xdr.ts";

const network = struct({ network: networkRef });
const callback = struct({ callbackId: int });

/** Procedures of the connection itself, of events, and of the host's devices and networks, for procedures.ts. */
export const hostProcedures = {
  authList: procedure(66, none, struct({ types: array(int, limits.authTypes) })),
  authPolkit: procedure(70, none, struct({ complete: bool })),
  connectOpen: procedure(1, struct({ uri: optionalText, flags }), nothing),
  connectClose: procedure(2, none, nothing),
  connectSupportsFeature: procedure(60, struct({ feature: int }), struct({ supported: bool })),
  connectGetLibVersion: procedure(157, none, struct({ version: uhyper })),
  connectGetVersion: procedure(4, none, struct({ version: uhyper })),
  connectGetHostname: procedure(59, none, struct({ hostname: text })),
  connectGetCapabilities: procedure(7, none, struct({ capabilities: text })),
  connectGetUri: procedure(110, none, struct({ uri: text })),

  connectDomainEventCallbackRegisterAny: procedure(
    316,
    struct({ eventId: int, domain: optional(domainRef) }),
    callback,
  ),
  connectDomainEventCallbackDeregisterAny: procedure(317, callback, nothing),
  connectStoragePoolEventRegisterAny: procedure(
    368,
    struct({ eventId: int, pool: optional(storagePoolRef) }),
    callback,
  ),
  connectStoragePoolEventDeregisterAny: procedure(369, callback, nothing),
  connectNodeDeviceEventRegisterAny: procedure(
    374,
    struct({ eventId: int, device: optional(nodeDeviceRef) }),
    callback,
  ),
  connectNodeDeviceEventDeregisterAny: procedure(375, callback, nothing),

  connectListAllNodeDevices: procedure(
    285,
    listArgs,
    struct({ devices: array(nodeDeviceRef, limits.nodeDevices), count: uint }),
  ),
  nodeDeviceLookupByName: procedure(113, nameOnly, struct({ device: nodeDeviceRef })),
  nodeDeviceGetXmlDesc: procedure(114, struct({ name: text, flags }), xml),

  connectListAllNetworks: procedure(
    283,
    listArgs,
    struct({ networks: array(networkRef, limits.objects), count: uint }),
  ),
  networkLookupByName: procedure(46, nameOnly, struct({ network: networkRef })),
  networkIsActive: procedure(152, network, active),
  networkGetXmlDesc: procedure(43, struct({ network: networkRef, flags }), xml),
  networkGetDhcpLeases: procedure(
    341,
    struct({ network: networkRef, mac: optionalText, needResults: bool, flags }),
    struct({
      leases: array(
        struct({
          iface: text,
          /** Seconds since 1970. */
          expiryTime: hyper,
          type: int,
          mac: optionalText,
          iaid: optionalText,
          ipaddr: text,
          prefix: uint,
          hostname: optionalText,
          clientid: optionalText,
        }),
        limits.dhcpLeases,
      ),
      count: uint,
    }),
  ),
} as const;
