import { active, flags, listArgs, nameOnly, uuidOnly, xml, xmlFlags } from "./arguments.ts";
import { limits, storagePoolRef, storageVolRef, text } from "./objects.ts";
import { procedure, slow } from "./procedure.ts";
import { array, bool, int, nothing, struct, uhyper, uint } from "./xdr.ts";

const pool = struct({ pool: storagePoolRef });
const poolFlags = struct({ pool: storagePoolRef, flags });
const vol = struct({ vol: storageVolRef });
const volFlags = struct({ vol: storageVolRef, flags });
const volRange = struct({ vol: storageVolRef, offset: uhyper, length: uhyper, flags });
const volInfo = struct({ type: int, capacity: uhyper, allocation: uhyper });

/** Procedures of storage pools and their volumes, for procedures.ts. */
export const storageProcedures = {
  connectListAllStoragePools: procedure(
    281,
    listArgs,
    struct({ pools: array(storagePoolRef, limits.objects), count: uint }),
  ),
  storagePoolLookupByName: procedure(84, nameOnly, pool),
  storagePoolLookupByUuid: procedure(85, uuidOnly, pool),
  storagePoolLookupByVolume: procedure(86, vol, pool),
  storagePoolLookupByTargetPath: procedure(391, struct({ path: text }), pool),
  storagePoolGetXmlDesc: procedure(88, poolFlags, xml),
  storagePoolGetInfo: procedure(
    87,
    pool,
    struct({ state: int, capacity: uhyper, allocation: uhyper, available: uhyper }),
  ),
  storagePoolIsActive: procedure(154, pool, active),
  storagePoolDefineXml: procedure(77, xmlFlags, pool),
  storagePoolUndefine: procedure(82, pool, nothing),
  storagePoolBuild: slow(79, poolFlags, nothing),
  storagePoolCreate: slow(78, poolFlags, nothing),
  storagePoolDestroy: slow(80, pool, nothing),
  storagePoolRefresh: slow(83, poolFlags, nothing),
  storagePoolSetAutostart: procedure(90, struct({ pool: storagePoolRef, autostart: bool }), nothing),
  storagePoolListAllVolumes: procedure(
    282,
    struct({ pool: storagePoolRef, needResults: bool, flags }),
    struct({ vols: array(storageVolRef, limits.objects), count: uint }),
  ),

  storageVolLookupByName: procedure(95, struct({ pool: storagePoolRef, name: text }), vol),
  storageVolLookupByKey: procedure(96, struct({ key: text }), vol),
  storageVolLookupByPath: procedure(97, struct({ path: text }), vol),
  storageVolGetInfo: procedure(98, vol, volInfo),
  storageVolGetInfoFlags: procedure(378, volFlags, volInfo),
  storageVolGetXmlDesc: procedure(99, volFlags, xml),
  storageVolGetPath: procedure(100, vol, struct({ path: text })),
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
} as const;
