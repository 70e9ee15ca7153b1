import type { DeclaredReason } from "../adapters/host/define-reasons.ts";
import { allReasons } from "../server/gateway/all-reasons.ts";

/** Returns the declared reason, for tables of cases that name reasons as clients see them. */
export function reasonNamed(id: string): DeclaredReason {
  const reason = allReasons.find((one) => one.id === id);
  if (reason === undefined) {
    throw new TypeError(`no reason has the id ${id}`);
  }
  return reason;
}
