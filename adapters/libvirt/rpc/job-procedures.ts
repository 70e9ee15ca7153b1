import { flags, xml } from "./arguments.ts";
import { domainRef, optionalText, text } from "./objects.ts";
import { procedure, slow } from "./procedure.ts";
import { nothing, struct } from "./xdr.ts";

const domain = struct({ domain: domainRef });
const domainFlags = struct({ domain: domainRef, flags });

/** Procedures of jobs and backups of domains, for procedures.ts. */
export const jobProcedures = {
  domainAbortJob: slow(164, domain, nothing),
  domainBackupBegin: slow(
    421,
    struct({ domain: domainRef, backupXml: text, checkpointXml: optionalText, flags }),
    nothing,
  ),
  domainBackupGetXmlDesc: procedure(422, domainFlags, xml),
} as const;
