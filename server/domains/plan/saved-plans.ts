import { randomUUID } from "node:crypto";
import { type DescMethod, fromBinary, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import type { LvmdProtocol } from "../../rpc/call/call.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { withoutSecrets } from "../../rpc/call/secret-fields.ts";
import { canonicalBytes } from "../../rpc/interceptors/canonical-bytes.ts";
import type { Store } from "../../store/store.ts";
import { approvalRequired } from "./approval-required.ts";
import type { ApprovalRules } from "./approval-rules.ts";
import type { PlannedCall } from "./plan-call.ts";
import { planStale } from "./plan-stale.ts";
import { planReasons } from "./reasons.ts";
import { digestOf, requestDigestOf, type SavedMutation, savedMutationFrom } from "./saved-mutation.ts";
import {
  type OpenedPlan,
  type PlannedRequest,
  type PlanOwner,
  parsePlanId,
  planNotFound,
  planOwnerOf,
  planUsed,
  type SavedPlan,
  savedPlanFromRecord,
} from "./saved-plan.ts";
import type { SavedPlanRow } from "./store/plan-record.ts";
import type { PlanLimits } from "./store/plans.ts";
import type { NewApproval, PlanEnd } from "./store/use.ts";

/** Plans that are saved for a day, or for as long as they can be approved. A caller sees its own plans; an admin sees all plans. */
export interface SavedPlans {
  /**
   * Saves a plan.
   * @param reuses returns the caller's open plan with the same digest instead, if there is one; default: false
   * @throws InfraError TOO_MANY_PLANS, INVALID_FIELD for a request that is too large
   */
  create(planned: PlannedCall, by: PlanOwner, reuses?: boolean): Promise<SavedPlan>;
  /** Also returns a plan that needs approvals to a caller that may call its method. @throws InfraError PLAN_NOT_FOUND */
  get(id: string, by: PlanOwner): Promise<SavedPlan>;
  /**
   * Lists the plans that `get` returns, newest first.
   * @param page `belowSeq`: `nextSeq` of the previous page; `waiting`: only plans that lack approvals
   */
  list(
    page: { readonly belowSeq: number | undefined; readonly limit: number; readonly waiting: boolean },
    by: PlanOwner,
  ): Promise<{ readonly rows: readonly SavedPlan[]; readonly nextSeq: number | undefined }>;
  /** @throws InfraError PLAN_NOT_FOUND */
  remove(id: string, by: PlanOwner): Promise<void>;
  /** Returns the caller's open plans of a call, oldest first, and the digest that a plan of it has now. */
  ofCall(
    planned: PlannedCall,
    by: PlanOwner,
  ): Promise<{ readonly plans: readonly SavedPlan[]; readonly digest: string }>;
  /**
   * Returns a plan of the caller to be applied, which only the first caller gets. `end` must follow.
   * @throws InfraError PLAN_NOT_FOUND, also for an admin, APPROVAL_REQUIRED, PLAN_STALE, PLAN_USED
   */
  begin(id: string, by: PlanOwner): Promise<OpenedPlan>;
  /** Records the outcome of a plan after `begin`. Returns it; undefined if it was deleted meanwhile. */
  end(id: string, end: PlanEnd): Promise<SavedPlan | undefined>;
  /** Makes an open plan stale. */
  outdate(id: string, because: string): Promise<void>;
  /** Records an approval of a plan, if it is open. Returns the plan. @throws InfraError PLAN_NOT_FOUND */
  approve(approval: NewApproval): Promise<SavedPlan>;
  /** Returns the request of a plan, even if it has expired; undefined if it was deleted. */
  requestOf(id: string): Promise<PlannedRequest | undefined>;
  /** Removes some of the expired plans. Returns whether there may be more. */
  purge(): Promise<boolean>;
}

export interface SavedPlansOptions {
  readonly store: Pick<Store, "run">;
  /** `createSeal(masterKeys, "plans")`: requests are encrypted, each bound to its plan. */
  readonly seal: Seal;
  /** Key of the digests. */
  readonly digestKey: Uint8Array;
  /** All methods of the gateway, by their full names. */
  readonly methods: ReadonlyMap<string, DescMethod>;
  readonly rules: Pick<ApprovalRules, "requirementOf">;
  /** Reports whether a caller may call a method. */
  readonly mayCall: (method: DescMethod, by: PlanOwner) => boolean;
  /** Its bounds decide which plans a caller with bounds sees. */
  readonly visibilityOf: VisibilityOf;
}

const keepMsDefault = 24 * 60 * 60 * 1000;
const limits: PlanLimits = { openOfOwner: 50, ofOwner: 1000, inAll: 10_000 };
const requestMaxBytes = 256 * 1024;
const purgeBatch = 100;

/** @param options requests are encrypted with `seal`; two plans are equal if their digests with `digestKey` are */
export function createSavedPlans(options: SavedPlansOptions): SavedPlans {
  const { store, seal, digestKey, methods, rules, mayCall, visibilityOf } = options;

  /** Decrypts the request. @throws InfraError PLAN_STALE for a method that this version lacks */
  function openRequest(row: SavedPlanRow): PlannedRequest {
    const method = methods.get(row.method);
    if (method === undefined) {
      throw planStale(row.id, `this version of the gateway has no ${row.method}`);
    }
    const request = fromBinary(method.input, seal.open(row.request_sealed, row.id));
    return { method, request, lvmd: row.lvmd as LvmdProtocol };
  }

  function digestsOf(method: DescMethod, request: Message, mutation: SavedMutation) {
    const [path, bytes] = [methodPathOf(method), canonicalBytes(request)];
    return {
      digest: digestOf(digestKey, path, bytes, mutation),
      request_digest: requestDigestOf(digestKey, path, bytes),
    };
  }

  function isVisible(plan: SavedPlan, by: PlanOwner): boolean {
    const { method: methodPath, owner, mutation } = plan;
    const needsApproval = plan.requiredApprovals > 0;
    const { bounds } = visibilityOf(by);
    if (bounds !== undefined) {
      return bounds.showsPlan({ methodPath, resource: mutation.resource, owner, needsApproval });
    }
    const method = methods.get(methodPath);
    return (
      owner === planOwnerOf(by) ||
      seesAll(by) ||
      (needsApproval && method !== undefined && mayCall(method, by))
    );
  }

  return {
    async create({ method, request, mutation }, by, reuses = false) {
      const bytes = toBinary(method.input, request);
      if (bytes.length > requestMaxBytes) {
        throw invalidField("request", `must have at most ${requestMaxBytes} bytes, has ${bytes.length}`);
      }
      const saved = savedMutationFrom(mutation);
      const { approvals, withinMs = keepMsDefault } = rules.requirementOf(method, by.caller, saved);
      const id = randomUUID();
      const plan = {
        id,
        owner: planOwnerOf(by),
        actor: by.caller.actor,
        method: methodPathOf(method),
        request_sealed: seal.seal(bytes, id),
        request_json: toJsonString(method.input, withoutSecrets(method.input, request)),
        plan_json: JSON.stringify(saved),
        ...digestsOf(method, request, saved),
        lvmd: by.peer.lvmd,
        required_approvals: approvals,
      };
      const outcome = await store.run("plans.create", { plan, keepMs: withinMs, limits, reuses });
      if (!outcome.ok) {
        throw tooManyPlans(outcome.of);
      }
      return savedPlanFromRecord(outcome.record);
    },

    async get(id, by) {
      const record = await store.run("plans.get", { id: parsePlanId(id) });
      const plan = record && savedPlanFromRecord(record);
      if (plan === undefined || !isVisible(plan, by)) {
        throw planNotFound(id);
      }
      return plan;
    },

    async list({ belowSeq, limit, waiting }, by) {
      const view = seesAll(by)
        ? undefined
        : {
            owner: planOwnerOf(by),
            methods: [...methods].flatMap(([path, method]) => (mayCall(method, by) ? path : [])),
          };
      const rows = await store.run("plans.list", { view, waiting, belowSeq, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return {
        rows: page.map(savedPlanFromRecord).filter((plan) => isVisible(plan, by)),
        nextSeq: rows.length > limit ? page.at(-1)?.seq : undefined,
      };
    },

    async remove(id, by) {
      const owner = seesAll(by) ? undefined : planOwnerOf(by);
      const { ok } = await store.run("plans.delete", { id: parsePlanId(id), owner });
      if (!ok) {
        throw planNotFound(id);
      }
    },

    async ofCall({ method, request, mutation }, by) {
      const { digest, request_digest } = digestsOf(method, request, savedMutationFrom(mutation));
      const owner = planOwnerOf(by);
      const records = await store.run("plans.ofRequest", {
        owner,
        digest: request_digest,
        lvmd: by.peer.lvmd,
      });
      return { plans: records.map(savedPlanFromRecord), digest };
    },

    async begin(id, by) {
      const owner = planOwnerOf(by);
      const known = await store.run("plans.get", { id: parsePlanId(id) });
      if (known === undefined || known.owner !== owner) {
        throw planNotFound(id);
      }
      // Decrypted first, so that a plan that cannot be is not begun.
      const planned = openRequest(known);
      const { mutation } = savedPlanFromRecord(known);
      const { approvals } = rules.requirementOf(planned.method, by.caller, mutation);
      const record = await store.run("plans.begin", { id, owner, requiredApprovals: approvals });
      if (record === undefined) {
        throw planNotFound(id);
      }
      const plan = savedPlanFromRecord(record);
      if (plan.state === "stale") {
        throw planStale(id, plan.staleBecause);
      }
      if (plan.state !== "open") {
        throw planUsed(plan);
      }
      if (plan.missingApprovals > 0) {
        throw approvalRequired(plan);
      }
      return { plan, ...planned };
    },

    async end(id, end) {
      const record = await store.run("plans.end", { id, end });
      return record && savedPlanFromRecord(record);
    },

    async outdate(id, because) {
      await store.run("plans.outdate", { id, because });
    },

    async approve(approval) {
      const record = await store.run("plans.approve", approval);
      if (record === undefined) {
        throw planNotFound(approval.id);
      }
      return savedPlanFromRecord(record);
    },

    async requestOf(id) {
      const row = await store.run("plans.row", { id });
      return row && openRequest(row);
    },

    purge: async () => (await store.run("plans.purge", { limit: purgeBatch })).count === purgeBatch,
  };
}

function seesAll({ caller }: PlanOwner): boolean {
  return caller.role === "admin" && caller.grants === undefined;
}

function tooManyPlans(of: keyof PlanLimits): InfraError {
  const words = {
    openOfOwner: `this caller has ${limits.openOfOwner} open plans`,
    ofOwner: `this caller has ${limits.ofOwner} saved plans, used ones included`,
    inAll: `there are ${limits.inAll} saved plans`,
  };
  const message = `${words[of]}, which is the limit: delete some, or wait until they expire`;
  return new InfraError(planReasons.TOO_MANY_PLANS, message);
}
