import { domainProcedures } from "./domain-procedures.ts";
import { hostProcedures } from "./host-procedures.ts";
import { jobProcedures } from "./job-procedures.ts";
import type { Procedure } from "./procedure.ts";
import { storageProcedures } from "./storage-procedures.ts";

/**
 * The procedures that this client can call, each with its number, arguments and result. Numbers and layouts are those
 * of src/remote/remote_protocol.x and qemu_protocol.x of libvirt 9.0, which never change once released. Names are the
 * protocol's; a procedure is documented at the function of the same name in libvirt's C API (`domainGetXmlDesc`:
 * virDomainGetXMLDesc).
 */
export const procedures = {
  ...hostProcedures,
  ...domainProcedures,
  ...jobProcedures,
  ...storageProcedures,
} as const;

export type ProcedureName = keyof typeof procedures;

export type ArgsOf<Name extends ProcedureName> =
  (typeof procedures)[Name] extends Procedure<infer Args, infer _Result> ? Args : never;

export type ResultOf<Name extends ProcedureName> =
  (typeof procedures)[Name] extends Procedure<infer _Args, infer Result> ? Result : never;
