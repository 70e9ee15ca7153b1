import type { DescMethod, Message } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Call, LvmdProtocol } from "../../rpc/call/call.ts";
import { planResource } from "./plan-stale.ts";
import { planReasons } from "./reasons.ts";
import type { SavedMutation } from "./saved-mutation.ts";
import { missingApprovals, type PlanRecord, personOf } from "./store/plan-record.ts";

/** A plan that is saved with its request. Times are milliseconds of the store's clock. */
export interface SavedPlan {
  readonly id: string;
  /** As `planOwnerOf`. */
  readonly owner: string;
  readonly actor: string;
  /** `package.Service/Method`. */
  readonly method: string;
  /** The request without its secrets. */
  readonly requestJson: string;
  readonly mutation: SavedMutation;
  readonly digest: string;
  readonly state: SavedPlanState;
  /** Why it cannot be applied; empty unless it is stale. */
  readonly staleBecause: string;
  /** The operation that its call began, or several with commas between them; undefined if there is none. */
  readonly operationId: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** How many approvals of other people it needs; 0: none. */
  readonly requiredApprovals: number;
  /** How many of them are missing: none once the glass is broken. */
  readonly missingApprovals: number;
  /** In the order in which they were given. */
  readonly approvals: readonly PlanApproval[];
}

/** An approval of a plan, or the broken glass that stands for the missing ones. */
export interface PlanApproval {
  /** Account of the approver; empty for the admin socket. */
  readonly account: string;
  readonly actor: string;
  readonly atMs: number;
  /** Why the glass was broken; undefined for an approval. */
  readonly breakGlassReason: string | undefined;
}

/** `applying`: its call is being made, or the gateway stopped meanwhile. */
export type SavedPlanState = "open" | "applying" | "applied" | "stale";

/** What is needed to make the call of a plan. */
export interface PlannedRequest {
  readonly method: DescMethod;
  /** With its secrets. */
  readonly request: Message;
  /** Rules that the request was planned with. */
  readonly lvmd: LvmdProtocol;
}

/** A plan whose call is to be made. */
export interface OpenedPlan extends PlannedRequest {
  readonly plan: SavedPlan;
}

/** The caller of a method about saved plans. */
export type PlanOwner = Pick<Call, "caller" | "peer">;

/**
 * Returns who owns the plans of a caller: its account, or its listener, whose callers without a login are one program.
 * Account ids have no spaces.
 */
export function planOwnerOf({ caller, peer }: PlanOwner): string {
  return caller.accountId === "" ? `listener ${peer.listener}` : caller.accountId;
}

/** Reports whether a caller is the one that has saved a plan, or a user of the same name. */
export function isProposer(plan: Pick<SavedPlan, "owner" | "actor">, by: PlanOwner): boolean {
  return plan.owner === planOwnerOf(by) || personOf(plan.actor) === personOf(by.caller.actor);
}

/** @throws InfraError INVALID_FIELD */
export function parsePlanId(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw invalidField("id", "expected a plan ID of 1 to 64 letters, digits, `-` and `_`");
  }
  return id;
}

/** Also the error for a plan of another caller, which must not reveal that the plan exists. */
export function planNotFound(id: string): InfraError {
  const words = `plan "${id}" does not exist, has expired, or belongs to another caller`;
  return new InfraError(planReasons.PLAN_NOT_FOUND, words, { resource: planResource(id) });
}

/** Returns the error of a plan that is neither open nor stale. */
export function planUsed({
  id,
  state,
  operationId,
}: Pick<SavedPlan, "id" | "state" | "operationId">): InfraError {
  const what = operationId === undefined ? "" : ` by operation ${operationId}`;
  const words =
    state === "applied"
      ? `the plan ${id} was applied${what}`
      : `the plan ${id} is being applied, or the gateway stopped meanwhile: check whether it took effect`;
  return new InfraError(planReasons.PLAN_USED, words, { resource: planResource(id) });
}

/** Converts a row of the store, which does not include the encrypted request. */
export function savedPlanFromRecord(record: PlanRecord): SavedPlan {
  const { id, owner, actor, method, digest } = record;
  return {
    id,
    owner,
    actor,
    method,
    digest,
    requestJson: record.request_json,
    mutation: JSON.parse(record.plan_json) as SavedMutation,
    state: record.state as SavedPlanState,
    staleBecause: record.stale_because ?? "",
    operationId: record.operation_id ?? undefined,
    createdAtMs: record.created_at,
    expiresAtMs: record.expires_at,
    requiredApprovals: record.required_approvals,
    missingApprovals: missingApprovals(record),
    approvals: record.approvals.map(({ account, actor: by, at, break_glass_reason }) => ({
      account,
      actor: by,
      atMs: at,
      breakGlassReason: break_glass_reason ?? undefined,
    })),
  };
}
