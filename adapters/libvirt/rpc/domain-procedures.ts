import { active, flags, listArgs, nameOnly, uuidOnly, xml, xmlFlags } from "./arguments.ts";
import { domainRef, limits, optionalText, text, typedParam } from "./objects.ts";
import { agentProgram, procedure, slow } from "./procedure.ts";
import { array, bool, int, nothing, struct, uhyper, uint } from "./xdr.ts";

const domain = struct({ domain: domainRef });
const domainFlags = struct({ domain: domainRef, flags });

/** Procedures of domains, for procedures.ts. */
export const domainProcedures = {
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
  domainIsActive: procedure(150, domain, active),
  domainIsPersistent: procedure(151, domain, struct({ persistent: bool })),
  domainDefineXmlFlags: procedure(350, xmlFlags, domain),
  domainUndefineFlags: slow(231, domainFlags, nothing),
  domainCreateWithFlags: slow(196, domainFlags, domain),
  domainShutdownFlags: slow(258, domainFlags, nothing),
  domainDestroyFlags: slow(234, domainFlags, nothing),
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
} as const;
