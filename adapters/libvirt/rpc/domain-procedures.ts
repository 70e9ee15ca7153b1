import { active, flags, listArgs, nameOnly, uuidOnly, xml, xmlFlags } from "./arguments.ts";
import { domainRef, limits, optionalText, text, typedParam } from "./objects.ts";
import { agentProgram, procedure, slow } from "./procedure.ts";
import { array, bool, hyper, int, nothing, struct, uhyper, uint } from "./xdr.ts";

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
  domainGetInfo: procedure(
    16,
    domain,
    struct({ state: int, maxMemKib: uhyper, memoryKib: uhyper, vcpus: int, cpuTimeNs: uhyper }),
  ),
  domainIsActive: procedure(150, domain, active),
  domainIsPersistent: procedure(151, domain, struct({ persistent: bool })),
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
  domainGetAutostart: procedure(15, domain, struct({ autostart: bool })),
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
} as const;
