import { randomUUID } from "node:crypto";
import { type DescMethod, fromBinary, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { Call, LvmdProtocol } from "../../rpc/call/call.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { withoutSecrets } from "../../rpc/call/secret-fields.ts";
import { canonicalBytes } from "../../rpc/interceptors/canonical-bytes.ts";
import type { Store } from "../../store/store.ts";
import type { PlannedCall } from "./plan-call.ts";
import { planResource, planStale } from "./plan-stale.ts";
import { planReasons } from "./reasons.ts";
import { digestOf, type SavedMutation, savedMutationFrom } from "./saved-mutation.ts";
import type { PlanEnd, SavedPlanRow } from "./store/transactions.ts";

/** A plan that is saved with its request. Times are milliseconds of the store's clock. */
export interface SavedPlan {
  readonly id: string;
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

/** Plans that are saved for a day. A caller sees its own plans; an admin sees all plans. */
export interface SavedPlans {
  /** @throws InfraError NOT_SAVABLE, TOO_MANY_PLANS, INVALID_FIELD for a request that is too large */
  create(planned: PlannedCall, by: PlanOwner): Promise<SavedPlan>;
  /** @throws InfraError PLAN_NOT_FOUND */
  get(id: string, by: PlanOwner): Promise<SavedPlan>;
  /** Lists plans, newest first. `belowSeq`: `nextSeq` of the previous page. */
  list(
    page: { readonly belowSeq: number | undefined; readonly limit: number },
    by: PlanOwner,
  ): Promise<{ readonly rows: readonly SavedPlan[]; readonly nextSeq: number | undefined }>;
  /** @throws InfraError PLAN_NOT_FOUND */
  remove(id: string, by: PlanOwner): Promise<void>;
  /**
   * Returns a plan of the caller to be applied, which only the first caller gets. `end` must follow.
   * @throws InfraError PLAN_NOT_FOUND, also for an admin, PLAN_STALE, PLAN_USED
   */
  begin(id: string, by: PlanOwner): Promise<OpenedPlan>;
  /** Records what has become of a plan after `begin`. Returns it; undefined if it was deleted meanwhile. */
  end(id: string, end: PlanEnd): Promise<SavedPlan | undefined>;
  /** Returns the request of a plan that an operation applies; undefined if the plan was deleted. */
  ofOperation(id: string): Promise<PlannedRequest | undefined>;
  /** Removes some of the expired plans. Returns whether there may be more. */
  purge(): Promise<boolean>;
}

export interface SavedPlansOptions {
  readonly store: Pick<Store, "run">;
  /** `createSeal(masterKey, "plans")`: requests are encrypted, each bound to its plan. */
  readonly seal: Seal;
  /** Key of the digests. */
  readonly digestKey: Uint8Array;
  /** All methods of the gateway, by their full names. */
  readonly methods: ReadonlyMap<string, DescMethod>;
}

const keepMs = 24 * 60 * 60 * 1000;
const maxOfOwner = 50;
const maxInAll = 10_000;
const requestMaxBytes = 256 * 1024;
const purgeBatch = 100;

export function createSavedPlans({ store, seal, digestKey, methods }: SavedPlansOptions): SavedPlans {
  /** Decrypts the request. @throws InfraError PLAN_STALE for a method that this version lacks */
  function requestOf(row: SavedPlanRow): PlannedRequest {
    const method = methods.get(row.method);
    if (method === undefined) {
      throw planStale(row.id, `this version of the gateway has no ${row.method}`);
    }
    const request = fromBinary(method.input, seal.open(row.request_sealed, row.id));
    return { method, request, lvmd: row.lvmd as LvmdProtocol };
  }

  return {
    async create({ method, rule, request, mutation }, by) {
      const path = methodPathOf(method);
      if (rule.secretAnswer) {
        const why = "its response contains secrets, which are not stored";
        throw new InfraError(planReasons.NOT_SAVABLE, `a plan of ${path} cannot be saved: ${why}`);
      }
      const bytes = toBinary(method.input, request);
      if (bytes.length > requestMaxBytes) {
        throw invalidField("request", `must have at most ${requestMaxBytes} bytes, has ${bytes.length}`);
      }
      const saved = savedMutationFrom(mutation);
      const id = randomUUID();
      const plan = {
        id,
        owner: planOwnerOf(by),
        actor: by.caller.actor,
        method: path,
        request_sealed: seal.seal(bytes, id),
        request_json: toJsonString(method.input, withoutSecrets(method.input, request)),
        plan_json: JSON.stringify(saved),
        digest: digestOf(digestKey, path, canonicalBytes(request), saved),
        lvmd: by.peer.lvmd,
      };
      const outcome = await store.run("plans.create", { plan, keepMs, maxOfOwner, maxInAll });
      if (!outcome.ok) {
        throw tooManyPlans(outcome.of);
      }
      return savedPlanFromRow(outcome.row);
    },

    async get(id, by) {
      const row = await store.run("plans.get", { id: parsePlanId(id) });
      if (row === undefined || (row.owner !== planOwnerOf(by) && !seesAll(by))) {
        throw planNotFound(id);
      }
      return savedPlanFromRow(row);
    },

    async list({ belowSeq, limit }, by) {
      const owner = seesAll(by) ? undefined : planOwnerOf(by);
      const rows = await store.run("plans.list", { owner, belowSeq, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return {
        rows: page.map(savedPlanFromRow),
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

    async begin(id, by) {
      const owner = planOwnerOf(by);
      const known = await store.run("plans.get", { id: parsePlanId(id) });
      // Decrypted first, so that a plan that cannot be is not begun.
      const planned = known?.owner === owner ? requestOf(known) : undefined;
      const row = planned && (await store.run("plans.begin", { id, owner }));
      if (planned === undefined || row === undefined) {
        throw planNotFound(id);
      }
      if (row.state === "stale") {
        throw planStale(id, row.stale_because ?? "");
      }
      if (row.state !== "open") {
        throw planUsed(row);
      }
      return { plan: savedPlanFromRow(row), ...planned };
    },

    async end(id, end) {
      const row = await store.run("plans.end", { id, end });
      return row && savedPlanFromRow(row);
    },

    async ofOperation(id) {
      const row = await store.run("plans.ofOperation", { id });
      return row && requestOf(row);
    },

    purge: async () => (await store.run("plans.purge", { limit: purgeBatch })).count === purgeBatch,
  };
}

/**
 * Returns who owns the plans of a caller: its account, or its listener, whose callers without a login are one program.
 * Account ids have no spaces.
 */
export function planOwnerOf({ caller, peer }: PlanOwner): string {
  return caller.accountId === "" ? `listener ${peer.listener}` : caller.accountId;
}

function seesAll({ caller }: PlanOwner): boolean {
  return caller.role === "admin";
}

/** @throws InfraError INVALID_FIELD */
function parsePlanId(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw invalidField("id", "expected a plan ID of 1 to 64 letters, digits, `-` and `_`");
  }
  return id;
}

function planNotFound(id: string): InfraError {
  const words = `plan "${id}" does not exist, has expired, or belongs to another caller`;
  return new InfraError(planReasons.PLAN_NOT_FOUND, words, { resource: planResource(id) });
}

function planUsed({ id, state, operation_id }: SavedPlanRow): InfraError {
  const what = operation_id === null ? "" : ` by operation ${operation_id}`;
  const words =
    state === "applied"
      ? `the plan ${id} was applied${what}`
      : `the plan ${id} is being applied, or the gateway stopped meanwhile: check whether it took effect`;
  return new InfraError(planReasons.PLAN_USED, words, { resource: planResource(id) });
}

function tooManyPlans(of: "owner" | "all"): InfraError {
  const words =
    of === "owner"
      ? `this caller has ${maxOfOwner} saved plans, which is the limit`
      : `there are ${maxInAll} saved plans, which is the limit of the gateway`;
  return new InfraError(planReasons.TOO_MANY_PLANS, `${words}: delete some, or wait until they expire`);
}

function savedPlanFromRow(row: SavedPlanRow): SavedPlan {
  const { id, actor, method, digest } = row;
  return {
    id,
    actor,
    method,
    digest,
    requestJson: row.request_json,
    mutation: JSON.parse(row.plan_json) as SavedMutation,
    state: row.state as SavedPlanState,
    staleBecause: row.stale_because ?? "",
    operationId: row.operation_id ?? undefined,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
