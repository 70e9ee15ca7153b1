import type { Reason, ReasonTable } from "../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { operationReasons } from "../operations/reasons.ts";
import { rpcReasons } from "../rpc/reasons.ts";
import { domainReasons } from "./reasons.ts";

/** Reasons for which the calls of a domain fail, as far as they follow from its subject. */
export interface CallReasons {
  /** The tables of reasons that its own code and its systems declare. */
  readonly tables: readonly ReasonTable[];
  readonly every?: readonly Reason[];
  /** Further ones of calls that change something. */
  readonly change?: readonly Reason[];
  /** Further ones of changes to the backups of its volumes, which the domain `backups` makes. */
  readonly ofItsBackups?: readonly Reason[];
}

/** For a domain whose systems may be off, busy, or unable to serve every call. */
export const reasonsOfSystems: readonly Reason[] = [
  domainReasons.DOMAIN_OFF,
  domainReasons.DOMAIN_NOT_BUILT,
  rpcReasons.NOT_BUILT,
  hostReasons.BUSY,
];

/** For a domain that runs tools of the host. */
export const reasonsOfTools: readonly Reason[] = [
  hostReasons.TOOL_MISSING,
  hostReasons.TOOL_FAILED,
  hostReasons.TOOL_TIMEOUT,
  hostReasons.TOOL_OUTPUT,
];

/** For changes that are durable operations. */
export const reasonsOfOperations: readonly Reason[] = [
  operationReasons.OPERATION_IN_PROGRESS,
  operationReasons.OPERATION_CANCELLED,
];
