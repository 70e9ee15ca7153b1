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
import { array, bool, int, nothing, optional, struct, uhyper, uint } from "./xdr.ts";

const network = struct({ network: networkRef });
const callback = struct({ callbackId: int });

/** Procedures of the connection itself, of events, and of the host's devices and networks, for procedures.ts. */
export const hostProcedures = {
  authList: procedure(66, none, struct({ types: array(int, limits.authTypes) })),
  authPolkit: procedure(70, none, struct({ complete: bool })),
  connectOpen: procedure(1, struct({ uri: optionalText, flags }), nothing),
  connectSupportsFeature: procedure(60, struct({ feature: int }), struct({ supported: bool })),
  connectGetLibVersion: procedure(157, none, struct({ version: uhyper })),
  connectGetHostname: procedure(59, none, struct({ hostname: text })),
  connectGetCapabilities: procedure(7, none, struct({ capabilities: text })),

  connectDomainEventCallbackRegisterAny: procedure(
    316,
    struct({ eventId: int, domain: optional(domainRef) }),
    callback,
  ),
  connectStoragePoolEventRegisterAny: procedure(
    368,
    struct({ eventId: int, pool: optional(storagePoolRef) }),
    callback,
  ),
  connectNodeDeviceEventRegisterAny: procedure(
    374,
    struct({ eventId: int, device: optional(nodeDeviceRef) }),
    callback,
  ),

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
} as const;
