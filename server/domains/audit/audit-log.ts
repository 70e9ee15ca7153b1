import type { AuditedCall, AuditedOutcome, AuditPort } from "../../rpc/interceptors/audit.ts";
import { otherKeys } from "../../rpc/interceptors/refusal-sums.ts";
import type { Store } from "../../store/store.ts";
import type { AuditCallRow, AuditOutcome } from "./store/transactions.ts";

/** The gateway that writes. */
export interface AuditLogFacts {
  readonly instanceId: string;
  readonly host: string;
  readonly isSandbox: boolean;
}

/** Far above the length of any name in the contract; bounds the row independently of the domains. */
const textMaxLength = 1024;

/** Values of a row that combines calls of several callers. */
const ofSeveral = { actor: "several", account_id: "", credential: "none", address: "other" };

/** Creates the audit log in the store. */
export function createAuditLog(
  store: Pick<Store, "run">,
  { instanceId, host, isSandbox }: AuditLogFacts,
  onFailed: AuditPort["onFailed"],
): AuditPort {
  const facts = { backend: isSandbox ? "sandbox" : "real", instance_id: instanceId, host };
  const callRow = (call: AuditedCall): AuditCallRow => ({
    actor: storable(call.actor),
    account_id: call.accountId,
    credential: call.credential,
    address: call.address,
    listener: call.listener,
    rpc: call.rpc,
    request_id: call.requestId,
    request_json: call.request ?? null,
    ...facts,
    ...(call.fleetHost === undefined ? {} : { host: call.fleetHost }),
  });
  const outcomeRow = ({ resource, operationId, fleetHost, ...outcome }: AuditedOutcome): AuditOutcome => ({
    code: outcome.code,
    reason: outcome.reason ?? null,
    resource: resource === undefined ? null : storable(resource),
    operation_id: operationId ?? null,
    ...(outcome.planId === undefined ? {} : { plan_id: outcome.planId }),
    ...(outcome.approvedBy === undefined ? {} : { approved_by_json: JSON.stringify(outcome.approvedBy) }),
    ...(fleetHost === undefined ? {} : { host: fleetHost }),
  });

  return {
    async add(call, outcome) {
      const row = { call: callRow(call), outcome: outcome === undefined ? undefined : outcomeRow(outcome) };
      const { seq } = await store.run("audit.add", row);
      return seq;
    },
    async end(seq, outcome) {
      await store.run("audit.end", { seq, outcome: outcomeRow(outcome) });
    },
    async addRefusals(sums) {
      const refusals = sums.map(({ key, count, last: { call, outcome } }) => ({
        call: { ...callRow(call), ...(key === otherKeys ? ofSeveral : {}) },
        outcome: outcomeRow(outcome),
        key,
        count,
      }));
      await store.run("audit.addRefusals", { refusals });
    },
    onFailed,
  };
}

/** Truncates a text and replaces NUL, which no database accepts in a text. */
function storable(text: string): string {
  return text.slice(0, textMaxLength).replaceAll("\0", "\ufffd");
}
