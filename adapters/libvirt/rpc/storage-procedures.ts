import { active, flags, listArgs, nameOnly, xml, xmlFlags } from "./arguments.ts";
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
  storagePoolGetXmlDesc: procedure(88, poolFlags, xml),
  storagePoolGetInfo: procedure(
    87,
    pool,
    struct({ state: int, capacity: uhyper, allocation: uhyper, available: uhyper }),
  ),
  storagePoolIsActive: procedure(154, pool, active),
  storagePoolDefineXml: procedure(77, xmlFlags, pool),
  storagePoolUndefine: procedure(82, pool, nothing),
  storagePoolCreate: slow(78, poolFlags, nothing),
  storagePoolDestroy: slow(80, pool, nothing),
  storagePoolRefresh: slow(83, poolFlags, nothing),
  storagePoolListAllVolumes: procedure(
    282,
    struct({ pool: storagePoolRef, needResults: bool, flags }),
    struct({ vols: array(storageVolRef, limits.objects), count: uint }),
  ),

  storageVolLookupByName: procedure(95, struct({ pool: storagePoolRef, name: text }), vol),
  storageVolGetInfo: procedure(98, vol, volInfo),
  storageVolGetXmlDesc: procedure(99, volFlags, xml),
  storageVolCreateXml: slow(93, struct({ pool: storagePoolRef, xml: text, flags }), vol),
  storageVolDelete: slow(94, volFlags, nothing),
  /** Called by `upload`. `length` 0 means up to the end of the source. */
  storageVolUpload: procedure(208, volRange, nothing),
  /** Called by `download`. `length` 0 means up to the end of the volume. */
  storageVolDownload: procedure(209, volRange, nothing),
} as const;
