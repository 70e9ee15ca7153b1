import { domainProcedures } from "./domain-procedures.ts";
import { hostProcedures } from "./host-procedures.ts";
import { jobProcedures } from "./job-procedures.ts";
import type { Procedure } from "./procedure.ts";
import { storageProcedures } from "./storage-procedures.ts";

/**
 * The description of what this client can call: a row for each procedure with its number, its arguments and its result.
 * Numbers and layouts are those of src/remote/remote_protocol.x and qemu_protocol.x of libvirt 9.0, which never change once
 * released. Names are the protocol's; what a call does is told by the function of libvirt's C interface that is called the
 * same (`domainGetXmlDesc`: virDomainGetXMLDesc).
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
