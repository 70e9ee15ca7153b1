import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../adapters/host/limiter.ts";
import type { LibvirtAdapter, LibvirtDomain } from "../../../adapters/libvirt/adapter.ts";
import { assertHypervisorId, hypervisorResource } from "../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";
import type { Events } from "../../events/events.ts";
import type { Json, Operation } from "../../operations/operation.ts";
import { type OperationViewMessage, operationView } from "../../operations/operation-view.ts";
import type { OperationStarter, Operations } from "../../operations/operations.ts";
import { operationsView, type ViewedOperation } from "../../operations/operations-view.ts";
import type { Requester } from "../../rpc/call/requester.ts";
import type { Store } from "../../store/store.ts";
import { createCreateKind, createKindName } from "./create-kind.ts";
import { type CreateInput, createInputFrom } from "./create-run.ts";
import { createDestroyKind, type DestroyInput, destroyInputFrom, destroyKindName } from "./destroy-kind.ts";
import { libvirtSource } from "./events/hypervisor-observer.ts";
import { assertHypervisorIds } from "./hypervisor-ids.ts";
import { createHypervisorList, type ListedHypervisors } from "./hypervisor-list.ts";
import type { HypervisorSettings } from "./hypervisor-settings.ts";
import { createHypervisorTools } from "./hypervisor-tools.ts";
import type { Hypervisor, Inventory } from "./inventory.ts";
import { createOpenChanges } from "./open-changes.ts";
import type { OwnChanges } from "./own-changes.ts";
import { hypervisorReasons } from "./reasons.ts";

export interface HypervisorsOptions {
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  readonly inventory: Inventory;
  readonly own: OwnChanges;
  readonly operations: Operations;
  readonly events: Pick<Events, "follow" | "headSeq">;
  readonly store: Pick<Store, "run">;
  /** Name of this host. */
  readonly host: string;
  readonly patienceMs?: number;
  readonly pollMs?: number;
}

/** What a call would begin for a hypervisor; `operation`: an equal operation that is already in progress. */
export type Foreseen<Input> =
  | { readonly operation: Operation; readonly input?: never }
  | { readonly operation?: never; readonly input: Input };

/** The hypervisors of this host: the contract's rules on top of libvirt, independent of messages. */
export interface Hypervisors {
  /**
   * Returns the inventory. Until the operation ends, a hypervisor that is being created counts as off, and one that is being
   * destroyed as running: the state shows which call is accepted.
   */
  list(signal: AbortSignal): Promise<ListedHypervisors>;
  /**
   * Begins the creation, or joins the one in progress, and reports its progress until it ends.
   * @throws InfraError before the first message: INVALID_FIELD, HYPERVISOR_NOT_FOUND, HYPERVISOR_RUNNING,
   *   OPERATION_IN_PROGRESS, DOMAIN_EXISTS, DOMAIN_STATE, BUSY, and what reading libvirt throws
   */
  create(id: string, asker: Requester): AsyncGenerator<OperationViewMessage, void>;
  /** Creates several hypervisors: if one is rejected, none is begun. @throws InfraError as `create` */
  createAll(ids: readonly string[], asker: Requester): AsyncGenerator<OperationViewMessage, void>;
  /** @throws InfraError as `create`, with HYPERVISOR_OFF instead of HYPERVISOR_RUNNING */
  destroy(id: string, asker: Requester): AsyncGenerator<OperationViewMessage, void>;
  /** @throws InfraError as `destroy` */
  destroyAll(ids: readonly string[], asker: Requester): AsyncGenerator<OperationViewMessage, void>;
  /** Returns what `createAll` would begin. @throws InfraError as `createAll` */
  foreseeCreate(ids: readonly string[], signal: AbortSignal): Promise<readonly Foreseen<CreateInput>[]>;
  /** Returns what `destroyAll` would begin. @throws InfraError as `destroyAll` */
  foreseeDestroy(ids: readonly string[], signal: AbortSignal): Promise<readonly Foreseen<DestroyInput>[]>;
}

/** The parts in which creation and destruction differ. */
interface Way<Input extends Json> {
  readonly verb: "create" | "destroy";
  readonly kind: string;
  readonly starter: OperationStarter<Input, null>;
  /** @throws InfraError HYPERVISOR_RUNNING, HYPERVISOR_OFF */
  inputOf(hypervisor: Hypervisor, domain: LibvirtDomain | undefined): Input;
  describeResult(operation: Operation): string;
}

type Started = { readonly operation: Operation; readonly isNew: boolean };

export function createHypervisors(options: HypervisorsOptions): Hypervisors {
  const { libvirt, settings, inventory, operations, host } = options;
  const tools = createHypervisorTools(options);
  const list = createHypervisorList(options);
  const openChanges = createOpenChanges(options);
  // No other request may begin an operation between the check and the beginning of this one.
  const turns = createLimiter({ what: "requests for hypervisors", maxRunning: 1, maxWaiting: 256 });
  const backend = libvirtSource(libvirt, host);

  const creation: Way<CreateInput> = {
    verb: "create",
    kind: createKindName,
    starter: operations.register(createCreateKind(tools, inventory)),
    inputOf({ id, state }) {
      if (state === "running") {
        throw refused(hypervisorReasons.HYPERVISOR_RUNNING, id, "is already running");
      }
      return createInputFrom(id, inventory.templateOf(id));
    },
    describeResult({ result, resource }) {
      const { isDiskReused = false } = (result ?? {}) as { readonly isDiskReused?: boolean };
      const id = resource.slice(hypervisorResource("").length);
      return isDiskReused ? `${id} was created with the disk that was kept` : `${id} was created`;
    },
  };
  const destruction: Way<DestroyInput> = {
    verb: "destroy",
    kind: destroyKindName,
    starter: operations.register(createDestroyKind(tools)),
    inputOf({ id, state }, domain) {
      if (domain === undefined) {
        throw refused(hypervisorReasons.HYPERVISOR_OFF, id, "is not created");
      }
      const input = destroyInputFrom(domain, settings.destroy);
      if (state === "off" && !input.isOurs) {
        throw refused(
          hypervisorReasons.HYPERVISOR_OFF,
          id,
          "is already off, and only VMs that hostplane created are removed",
        );
      }
      return input;
    },
    describeResult({ result, resource }) {
      const { isRemoved = true } = (result ?? {}) as { readonly isRemoved?: boolean };
      const id = resource.slice(hypervisorResource("").length);
      return isRemoved ? `${id} was destroyed` : `${id} is off; it was not created by hostplane and is kept`;
    },
  };

  async function underWay(resource: string): Promise<Operation | undefined> {
    const states = ["scheduled", "active", "undoing"] as const;
    const page = { belowSeq: undefined, limit: 10 };
    const { operations: open } = await operations.list({ resource, states }, page);
    return open.find((one) => one.host === undefined || one.host === host);
  }

  /** @throws InfraError as `create` and `destroy` */
  async function foresee<Input extends Json>(
    way: Way<Input>,
    id: string,
    signal: AbortSignal,
  ): Promise<Foreseen<Input>> {
    const { hypervisors, failure } = await list(signal);
    const hypervisor = hypervisors.find((one) => one.id === id);
    if (hypervisor === undefined) {
      throw new InfraError(
        hypervisorReasons.HYPERVISOR_NOT_FOUND,
        `hypervisor ${JSON.stringify(id)} not found`,
        {
          resource: hypervisorResource(id),
        },
      );
    }
    const operation = await underWay(hypervisorResource(id));
    if (operation?.kind === way.kind) {
      return { operation };
    }
    await operations.assertFree(hypervisorResource(id));
    if (failure !== undefined) {
      throw failure;
    }
    const { value } = await libvirt.read(signal);
    const domain = value.domains.find(({ name }) => name === id);
    if (hypervisor.state === "unknown") {
      // An unreadable VM does not show whether the gateway created it.
      const isReadable = domain !== undefined && domain.unreadableBecause === undefined;
      const isForeign = isReadable && !inventory.isHypervisor(domain);
      throw refused(
        isForeign ? libvirtReasons.DOMAIN_EXISTS : libvirtReasons.DOMAIN_STATE,
        id,
        `has an unknown state: ${hypervisor.reason}`,
      );
    }
    return { input: way.inputOf(hypervisor, domain) };
  }

  async function start<Input extends Json>(
    way: Way<Input>,
    id: string,
    foreseen: Foreseen<Input>,
    asker: Requester,
  ): Promise<Started> {
    if (foreseen.operation !== undefined) {
      return { operation: foreseen.operation, isNew: false };
    }
    const resource = hypervisorResource(id);
    const { actor, accountId, rpc } = asker;
    return way.starter.start({
      resource,
      backend,
      input: foreseen.input,
      secrets: null,
      asker: { actor, accountId, rpc },
      attachKey: `${way.verb} ${host} ${resource}`,
    });
  }

  async function* one<Input extends Json>(
    way: Way<Input>,
    id: string,
    asker: Requester,
  ): AsyncGenerator<OperationViewMessage, void> {
    assertHypervisorId(id, "id");
    asker.noteResource(hypervisorResource(id));
    const begin = async () => start(way, id, await foresee(way, id, asker.signal), asker);
    yield* operationView(options, asker, () => turns.run(begin, asker.signal), way.describeResult);
  }

  async function* several<Input extends Json>(
    way: Way<Input>,
    ids: readonly string[],
    asker: Requester,
  ): AsyncGenerator<OperationViewMessage, void> {
    assertHypervisorIds(ids);
    const [only = ""] = ids;
    asker.noteResource(ids.length === 1 ? hypervisorResource(only) : "hypervisors");
    const begin = async () => {
      const foreseen = await foreseeAll(way, ids, asker.signal);
      return Promise.all(
        foreseen.map(async (each, index): Promise<ViewedOperation> => {
          const label = ids[index] ?? "";
          try {
            return { label, begun: await start(way, label, each, asker) };
          } catch (error) {
            return { label, begun: { error } };
          }
        }),
      );
    };
    yield* operationsView(options, asker, () => turns.run(begin, asker.signal), way.describeResult);
  }

  async function foreseeAll<Input extends Json>(
    way: Way<Input>,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<Foreseen<Input>[]> {
    assertHypervisorIds(ids);
    const all: Foreseen<Input>[] = [];
    for (const id of ids) {
      all.push(await foresee(way, id, signal));
    }
    return all;
  }

  return {
    async list(signal) {
      const listed = await list(signal);
      return { ...listed, hypervisors: await openChanges(listed.hypervisors) };
    },
    create: (id, asker) => one(creation, id, asker),
    createAll: (ids, asker) => several(creation, ids, asker),
    destroy: (id, asker) => one(destruction, id, asker),
    destroyAll: (ids, asker) => several(destruction, ids, asker),
    foreseeCreate: (ids, signal) => foreseeAll(creation, ids, signal),
    foreseeDestroy: (ids, signal) => foreseeAll(destruction, ids, signal),
  };
}

function refused(reason: Reason, id: string, words: string): InfraError {
  return new InfraError(reason, `${id} ${words}`, { resource: hypervisorResource(id) });
}
