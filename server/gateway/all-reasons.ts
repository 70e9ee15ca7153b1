import type { DeclaredReason, ReasonTable } from "../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { domainReasons } from "../domain/reasons.ts";
import { domains } from "../domains/domains.ts";
import { rpcReasons } from "../rpc/reasons.ts";
import { storeReasons } from "../store/reasons.ts";

/** Every table of reasons: those of calls, of the domains, of the store and of the host. */
export const reasonTables: readonly ReasonTable[] = [
  rpcReasons,
  domainReasons,
  ...domains.flatMap(({ reasons }) => reasons?.tables ?? []),
  storeReasons,
  hostReasons,
];

/** Every reason that an error can have. */
export const allReasons: readonly DeclaredReason[] = [
  ...new Set(reasonTables.flatMap((table) => Object.values(table))),
];
