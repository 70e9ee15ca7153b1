import {
  checkpointRef,
  domainRef,
  jobParams,
  limits,
  networkRef,
  nodeDeviceRef,
  optionalText,
  storagePoolRef,
  storageVolRef,
  text,
  typedParam,
  uuid,
} from "./objects.ts";
import { agentProgram, type Procedure, procedure, slow } from "./procedure.ts";
import { array, bool, hyper, int, nothing, optional, struct, uhyper, uint } from "./xdr.ts";

// The description of what this client can call: a row for each procedure with its number, its arguments and its result.
// Numbers and layouts are those of src/remote/remote_protocol.x and qemu_protocol.x of libvirt 9.0, where they never
// change once released. Names are the protocol's; what a call does is told by the function of libvirt's C interface that
// is called the same (`domainGetXmlDesc`: virDomainGetXMLDesc).

const none = struct({});
const flags = uint;
const domainOnly = struct({ domain: domainRef });
const domainFlags = struct({ domain: domainRef, flags });
const poolOnly = struct({ pool: storagePoolRef });
const poolFlags = struct({ pool: storagePoolRef, flags });
const volOnly = struct({ vol: storageVolRef });
const volFlags = struct({ vol: storageVolRef, flags });
const volRange = struct({ vol: storageVolRef, offset: uhyper, length: uhyper, flags });
const networkOnly = struct({ network: networkRef });
const nameOnly = struct({ name: text });
const uuidOnly = struct({ uuid });
const listArgs = struct({ needResults: bool, flags });
const xmlFlags = struct({ xml: text, flags });
const xml = struct({ xml: text });
const domain = struct({ domain: domainRef });
const pool = struct({ pool: storagePoolRef });
const vol = struct({ vol: storageVolRef });
const volInfo = struct({ type: int, capacity: uhyper, allocation: uhyper });
const active = struct({ active: bool });
const callback = struct({ callbackId: int });

export const procedures = {
  // The connection
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

  // Domains
  connectListAllDomains: procedure(
    273,
    listArgs,
    struct({ domains: array(domainRef, limits.objects), count: uint }),
  ),
  connectGetAllDomainStats: procedure(
    344,
    struct({ domains: array(domainRef, limits.objects), stats: uint, flags }),
    struct({
      records: array(
        struct({ domain: domainRef, params: array(typedParam, limits.domainStats) }),
        limits.objects,
      ),
    }),
  ),
  domainLookupByName: procedure(23, nameOnly, domain),
  domainLookupByUuid: procedure(24, uuidOnly, domain),
  domainGetXmlDesc: procedure(14, domainFlags, xml),
  domainGetState: procedure(212, domainFlags, struct({ state: int, reason: int })),
  domainGetInfo: procedure(
    16,
    domainOnly,
    struct({ state: int, maxMemKib: uhyper, memoryKib: uhyper, vcpus: int, cpuTimeNs: uhyper }),
  ),
  domainIsActive: procedure(150, domainOnly, active),
  domainDefineXmlFlags: procedure(350, xmlFlags, domain),
  domainUndefineFlags: slow(231, domainFlags, nothing),
  domainCreateWithFlags: slow(196, domainFlags, domain),
  domainShutdownFlags: slow(258, domainFlags, nothing),
  domainDestroyFlags: slow(234, domainFlags, nothing),
  domainReset: slow(245, domainFlags, nothing),
  domainGetMetadata: procedure(
    265,
    struct({ domain: domainRef, type: int, uri: optionalText, flags }),
    struct({ metadata: text }),
  ),
  domainSetMetadata: procedure(
    264,
    struct({
      domain: domainRef,
      type: int,
      metadata: optionalText,
      key: optionalText,
      uri: optionalText,
      flags,
    }),
    nothing,
  ),
  domainInterfaceAddresses: slow(
    353,
    struct({ domain: domainRef, source: uint, flags }),
    struct({
      interfaces: array(
        struct({
          name: text,
          hwaddr: optionalText,
          addresses: array(struct({ type: int, address: text, prefix: uint }), limits.interfaces),
        }),
        limits.interfaces,
      ),
    }),
  ),
  domainGetAutostart: procedure(15, domainOnly, struct({ autostart: bool })),
  domainSetAutostart: procedure(29, struct({ domain: domainRef, autostart: bool }), nothing),
  domainHasManagedSaveImage: procedure(183, domainFlags, struct({ result: bool })),
  domainManagedSaveRemove: procedure(184, domainFlags, nothing),
  domainMemoryStats: procedure(
    159,
    struct({ domain: domainRef, maxStats: uint, flags }),
    struct({ stats: array(struct({ tag: int, value: uhyper }), limits.memoryStats) }),
  ),
  domainBlockStats: procedure(
    64,
    struct({ domain: domainRef, path: text }),
    struct({
      readRequests: hyper,
      readBytes: hyper,
      writeRequests: hyper,
      writeBytes: hyper,
      errors: hyper,
    }),
  ),
  domainGetBlockInfo: procedure(
    194,
    struct({ domain: domainRef, path: text, flags }),
    struct({ allocation: uhyper, capacity: uhyper, physical: uhyper }),
  ),
  qemuDomainAgentCommand: slow(
    3,
    struct({ domain: domainRef, command: text, timeoutSeconds: int, flags }),
    struct({ result: optionalText }),
    agentProgram,
  ),

  // Jobs, backups and checkpoints of domains
  domainGetJobInfo: procedure(
    163,
    domainOnly,
    struct({
      type: int,
      timeElapsedMs: uhyper,
      timeRemainingMs: uhyper,
      dataTotal: uhyper,
      dataProcessed: uhyper,
      dataRemaining: uhyper,
      memTotal: uhyper,
      memProcessed: uhyper,
      memRemaining: uhyper,
      fileTotal: uhyper,
      fileProcessed: uhyper,
      fileRemaining: uhyper,
    }),
  ),
  domainGetJobStats: procedure(298, domainFlags, struct({ type: int, params: jobParams })),
  domainAbortJob: slow(164, domainOnly, nothing),
  domainBackupBegin: slow(
    421,
    struct({ domain: domainRef, backupXml: text, checkpointXml: optionalText, flags }),
    nothing,
  ),
  domainBackupGetXmlDesc: procedure(422, domainFlags, xml),
  domainListAllCheckpoints: procedure(
    413,
    struct({ domain: domainRef, needResults: bool, flags }),
    struct({ checkpoints: array(checkpointRef, limits.objects), count: int }),
  ),
  domainCheckpointDelete: slow(417, struct({ checkpoint: checkpointRef, flags }), nothing),

  // Storage pools
  connectListAllStoragePools: procedure(
    281,
    listArgs,
    struct({ pools: array(storagePoolRef, limits.objects), count: uint }),
  ),
  storagePoolLookupByName: procedure(84, nameOnly, pool),
  storagePoolLookupByUuid: procedure(85, uuidOnly, pool),
  storagePoolLookupByVolume: procedure(86, volOnly, pool),
  storagePoolLookupByTargetPath: procedure(391, struct({ path: text }), pool),
  storagePoolGetXmlDesc: procedure(88, poolFlags, xml),
  storagePoolGetInfo: procedure(
    87,
    poolOnly,
    struct({ state: int, capacity: uhyper, allocation: uhyper, available: uhyper }),
  ),
  storagePoolIsActive: procedure(154, poolOnly, active),
  storagePoolDefineXml: procedure(77, xmlFlags, pool),
  storagePoolUndefine: procedure(82, poolOnly, nothing),
  storagePoolBuild: slow(79, poolFlags, nothing),
  storagePoolCreate: slow(78, poolFlags, nothing),
  storagePoolDestroy: slow(80, poolOnly, nothing),
  storagePoolRefresh: slow(83, poolFlags, nothing),
  storagePoolSetAutostart: procedure(90, struct({ pool: storagePoolRef, autostart: bool }), nothing),
  storagePoolListAllVolumes: procedure(
    282,
    struct({ pool: storagePoolRef, needResults: bool, flags }),
    struct({ vols: array(storageVolRef, limits.objects), count: uint }),
  ),

  // Storage volumes
  storageVolLookupByName: procedure(95, struct({ pool: storagePoolRef, name: text }), vol),
  storageVolLookupByKey: procedure(96, struct({ key: text }), vol),
  storageVolLookupByPath: procedure(97, struct({ path: text }), vol),
  storageVolGetInfo: procedure(98, volOnly, volInfo),
  storageVolGetInfoFlags: procedure(378, volFlags, volInfo),
  storageVolGetXmlDesc: procedure(99, volFlags, xml),
  storageVolGetPath: procedure(100, volOnly, struct({ path: text })),
  storageVolCreateXml: slow(93, struct({ pool: storagePoolRef, xml: text, flags }), vol),
  storageVolCreateXmlFrom: slow(
    125,
    struct({ pool: storagePoolRef, xml: text, cloneVol: storageVolRef, flags }),
    vol,
  ),
  storageVolDelete: slow(94, volFlags, nothing),
  storageVolResize: slow(260, struct({ vol: storageVolRef, capacity: uhyper, flags }), nothing),
  /** By `upload`. `length` 0 is as far as the source goes. */
  storageVolUpload: procedure(208, volRange, nothing),
  /** By `download`. `length` 0 is as far as the volume goes. */
  storageVolDownload: procedure(209, volRange, nothing),

  // Devices of the host
  connectListAllNodeDevices: procedure(
    285,
    listArgs,
    struct({ devices: array(nodeDeviceRef, limits.nodeDevices), count: uint }),
  ),
  nodeDeviceLookupByName: procedure(113, nameOnly, struct({ device: nodeDeviceRef })),
  nodeDeviceGetXmlDesc: procedure(114, struct({ name: text, flags }), xml),

  // Networks
  connectListAllNetworks: procedure(
    283,
    listArgs,
    struct({ networks: array(networkRef, limits.objects), count: uint }),
  ),
  networkLookupByName: procedure(46, nameOnly, struct({ network: networkRef })),
  networkIsActive: procedure(152, networkOnly, active),
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

  // Events: the client registers for those of events.ts by itself
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
} as const;

export type ProcedureName = keyof typeof procedures;

export type ArgsOf<Name extends ProcedureName> =
  (typeof procedures)[Name] extends Procedure<infer Args, infer _Result> ? Args : never;

export type ResultOf<Name extends ProcedureName> =
  (typeof procedures)[Name] extends Procedure<infer _Args, infer Result> ? Result : never;
