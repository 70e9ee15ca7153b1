import { flags, xml } from "./arguments.ts";
import { checkpointRef, domainRef, jobParams, limits, optionalText, text } from "./objects.ts";
import { procedure, slow } from "./procedure.ts";
import { array, bool, int, nothing, struct, uhyper } from "./xdr.ts";

const domain = struct({ domain: domainRef });
const domainFlags = struct({ domain: domainRef, flags });
const mountPoints = struct({ domain: domainRef, mountPoints: array(text, limits.mountPoints), flags });

/** Procedures of jobs, backups and checkpoints of domains, for procedures.ts. */
export const jobProcedures = {
  domainGetJobInfo: procedure(
    163,
    domain,
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
  domainAbortJob: slow(164, domain, nothing),
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
  /** By the guest agent; no mount points are all. */
  domainFsfreeze: slow(335, mountPoints, struct({ filesystems: int })),
  domainFsthaw: slow(336, mountPoints, struct({ filesystems: int })),
} as const;
