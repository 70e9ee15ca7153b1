import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../../adapters/host/limiter.ts";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import { assertHypervisorId, hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import type { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import type { Change, ChangesOf } from "../../../domain/change.ts";
import {
  type CheckedOperation,
  operationRequesterOf,
  planOfCheck,
  registerLongChange,
} from "../../../domain/long-change.ts";
import type { Events } from "../../../events/events.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import { operationGroupView, type ViewedOperation } from "../../../operations/operation-group-view.ts";
import { operationView } from "../../../operations/operation-view.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { PlanRequester } from "../../../operations/planner.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { libvirtSource } from "../events/hypervisor-observer.ts";
import type { OwnChanges } from "../events/own-changes.ts";
import { progressMessages } from "../hypervisor-messages.ts";
import type { HypervisorSettings } from "../hypervisor-settings.ts";
import type { Hypervisors } from "../hypervisors.ts";
import type { Hypervisor, Inventory } from "../inventory.ts";
import { hypervisorReasons } from "../reasons.ts";
import { createCreateHypervisor } from "./create-hypervisor.ts";
import { createDestroyHypervisor } from "./destroy-hypervisor.ts";
import type { HypervisorChange } from "./hypervisor-change.ts";
import { assertHypervisorIds } from "./hypervisor-ids.ts";
import { createHypervisorTools } from "./hypervisor-tools.ts";

export interface HypervisorChangesOptions {
  readonly hypervisors: Pick<Hypervisors, "read">;
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  readonly inventory: Inventory;
  readonly own: OwnChanges;
  readonly operations: Operations;
  readonly events: Pick<Events, "follow" | "headSeq">;
  /** Name of this host. */
  readonly host: string;
  readonly patienceMs?: number;
  readonly pollMs?: number;
}

type Progress = ReturnType<typeof progressMessages>;

/** The changes of operations.v1.OperationsService that concern hypervisors. */
export type HypervisorChanges = ChangesOf<
  typeof OperationsService,
  "createHypervisor" | "createHypervisors" | "destroyHypervisor" | "destroyHypervisors"
>;

/** Creates the changes and registers their kinds of operation; must run before `operations.begin`. */
export function createHypervisorChanges(options: HypervisorChangesOptions): HypervisorChanges {
  const { libvirt, settings, inventory } = options;
  const tools = createHypervisorTools(options);
  // No other request may begin an operation between the check and the beginning of this one.
  const turns = createLimiter({ what: "requests for hypervisors", maxRunning: 1, maxWaiting: 256 });
  const creation = changesOf(options, turns, createCreateHypervisor(tools, inventory, libvirt));
  const destruction = changesOf(options, turns, createDestroyHypervisor(tools, settings.destroy, libvirt));
  return {
    createHypervisor: creation.one,
    createHypervisors: creation.several,
    destroyHypervisor: destruction.one,
    destroyHypervisors: destruction.several,
  };
}

/** Makes a change executable for one hypervisor and for several. If one of several is rejected, none is begun. */
function changesOf<Input extends Json>(
  options: HypervisorChangesOptions,
  turns: ReturnType<typeof createLimiter>,
  change: HypervisorChange<Input>,
) {
  const { operations, host, libvirt } = options;
  const { kind, describeResult } = change;
  const backend = libvirtSource(libvirt, host);

  /** @throws InfraError HYPERVISOR_NOT_FOUND, OPERATION_IN_PROGRESS, and as `HypervisorChange.check` */
  async function check(
    id: string,
    { signal, operation: own }: Pick<PlanRequester, "signal" | "operation">,
  ): Promise<CheckedOperation<Input> | { joins: Operation }> {
    const resource = hypervisorResource(id);
    const { hypervisors, failure } = await options.hypervisors.read(signal);
    const hypervisor = hypervisors.find((one) => one.id === id);
    if (hypervisor === undefined) {
      const words = `hypervisor ${JSON.stringify(id)} not found`;
      throw new InfraError(hypervisorReasons.HYPERVISOR_NOT_FOUND, words, { resource });
    }
    // Before libvirt's failure: operations in progress are known even while it is unreachable.
    const running = await runningOn(operations, resource, host, own?.id);
    if (running?.kind === kind.kind) {
      return { joins: running };
    }
    await operations.assertFree(resource, own?.id);
    if (failure !== undefined) {
      throw failure;
    }
    const { value: state } = await libvirt.read(signal);
    assertKnown(hypervisor, state, inventory);
    const checked = change.check(hypervisor, state);
    return { resource, backend, secrets: null, attachKey: `${kind.kind} ${host} ${resource}`, ...checked };
  }

  const { inventory } = options;
  const registered = registerLongChange(operations, {
    kind,
    check,
  });

  async function checkAll(ids: readonly string[], requester: Pick<PlanRequester, "signal" | "operation">) {
    const all = [];
    for (const id of ids) {
      all.push(await check(id, requester));
    }
    return all;
  }

  function planOf(ids: readonly string[], checked: Awaited<ReturnType<typeof checkAll>>): PlannedMutation {
    const parts = checked.map((each) => planOfCheck(kind, each));
    return { kind: kind.kind, resource: resourceOf(ids), backend, ...joinedPlan(parts) };
  }

  async function startAll(ids: readonly string[], call: Call): Promise<readonly ViewedOperation[]> {
    const checked = await checkAll(ids, { signal: call.signal });
    call.appliedPlan?.assertSame(planOf(ids, checked));
    return Promise.all(
      checked.map(async (each, index): Promise<ViewedOperation> => {
        const label = ids[index] ?? "";
        try {
          return { label, started: await registered.start(each, operationRequesterOf(call)) };
        } catch (error) {
          return { label, started: { error } };
        }
      }),
    );
  }

  async function* runOne(id: string, call: Call) {
    assertHypervisorId(id, "id");
    call.noteResource(hypervisorResource(id));
    const begin = () => turns.run(() => registered.begin(id, call), call.signal);
    yield* operationView(options, call, begin, describeResult);
  }

  async function* runSeveral(ids: readonly string[], call: Call) {
    assertHypervisorIds(ids);
    call.noteResource(resourceOf(ids));
    const begin = () => turns.run(() => startAll(ids, call), call.signal);
    yield* operationGroupView(options, call, begin, describeResult);
  }

  return {
    one: {
      async plan({ id }, requester) {
        assertHypervisorId(id, "id");
        return registered.plan(id, requester);
      },
      run: ({ id }, call) => progressMessages(runOne(id, call)),
    } satisfies Change<{ readonly id: string }, Progress>,
    several: {
      async plan({ ids }, requester) {
        assertHypervisorIds(ids);
        const { operation: own } = requester;
        const planned = own === undefined ? ids : ids.filter((id) => hypervisorResource(id) === own.resource);
        return planOf(planned, await checkAll(planned, requester));
      },
      run: ({ ids }, call) => progressMessages(runSeveral(ids, call)),
    } satisfies Change<{ readonly ids: readonly string[] }, Progress>,
  };
}

function resourceOf(ids: readonly string[]): string {
  const [only = ""] = ids;
  return ids.length === 1 ? hypervisorResource(only) : "hypervisors";
}

/** Returns the operation, other than `except`, that is running on a hypervisor of this host; undefined if none is. */
async function runningOn(
  operations: Pick<Operations, "list">,
  resource: string,
  host: string,
  except: string | undefined,
): Promise<Operation | undefined> {
  const states = ["scheduled", "active", "undoing"] as const;
  const page = { belowSeq: undefined, limit: 10 };
  const { operations: open } = await operations.list({ resource, states }, page);
  return open.find((one) => one.id !== except && (one.host === undefined || one.host === host));
}

/** Rejects a hypervisor whose state is unknown. @throws InfraError DOMAIN_EXISTS if the VM is not a hypervisor, DOMAIN_STATE */
function assertKnown(
  { id, state, reason }: Hypervisor,
  { domains }: Awaited<ReturnType<LibvirtAdapter["read"]>>["value"],
  inventory: Inventory,
): void {
  if (state !== "unknown") {
    return;
  }
  const domain = domains.find(({ name }) => name === id);
  // An unreadable VM does not show whether the gateway created it.
  const isReadable = domain !== undefined && domain.unreadableBecause === undefined;
  const isForeign = isReadable && !inventory.isHypervisor(domain);
  const why: Reason = isForeign ? libvirtReasons.DOMAIN_EXISTS : libvirtReasons.DOMAIN_STATE;
  throw new InfraError(why, `${id} has an unknown state: ${reason}`, { resource: hypervisorResource(id) });
}

/** Joins the plans of several hypervisors into one. */
function joinedPlan(
  parts: readonly PlannedMutation[],
): Pick<PlannedMutation, "plan" | "steps" | "pointOfNoReturn"> {
  const steps = parts.flatMap((part) => part.steps);
  let pointOfNoReturn = steps.length;
  let offset = 0;
  for (const part of parts) {
    if (part.pointOfNoReturn < part.steps.length) {
      pointOfNoReturn = Math.min(pointOfNoReturn, offset + part.pointOfNoReturn);
    }
    offset += part.steps.length;
  }
  const plan = {
    changes: parts.flatMap(({ plan }) => plan.changes),
    losses: parts.flatMap(({ plan }) => plan.losses),
    facts: parts.flatMap(({ plan }) => plan.facts),
  };
  return { plan, steps, pointOfNoReturn };
}
